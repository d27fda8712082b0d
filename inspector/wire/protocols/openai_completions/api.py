"""The legacy completions as the tape sees them."""

from turntape.cassettes.apis.interface import Api
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED

API = Api(path=regex(r"(?:.*/)?completions"), ignored=CHAT_IGNORED, turn_paths=("/completions",))
