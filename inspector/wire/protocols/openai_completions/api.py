"""The legacy completions as the tape sees them."""

import re

from turntape.cassettes.apis.interface import Api

from ..shared.ignored import CHAT_IGNORED

API = Api(path=re.compile(r"(?:.*/)?completions"), ignored=CHAT_IGNORED, turn_paths=("/completions",))
