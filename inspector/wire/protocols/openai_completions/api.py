"""The legacy completions as the tape sees them."""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED

API = Api(path=regex(r"(?:.*/)?completions"), ignored=CHAT_IGNORED, turn_paths=("/completions",))

OPENAI_COMPLETIONS = Registration(
    f"{__package__}.completions:OPENAI_COMPLETIONS", API, "openai-completions", paths=regex(r"/completions/*$")
)
