"""The keys that a client sends in the header of its request: in its body, and in the answer, they are secrets too.

So a key without a form is found, such as 32 hexadecimal digits of Azure, where a tool prints it without a name.
"""

import re
from functools import lru_cache

from ..regex import regex
from ..tape.model import Headers

_NAMES = frozenset(
    [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "x-auth-token",
        "x-access-token",
        "x-portkey-api-key",
        "helicone-auth",
        "cf-aig-authorization",
        "x-litellm-api-key",
        "ocp-apim-subscription-key",
        "x-goog-iam-authorization-token",
        "x-functions-key",
        "x-openai-actor-authorization",
    ]
)
"""Header fields that carry a key, lower case; cookies and ids of sessions are also in texts that nobody must hide."""
_KEY = regex(r"(?:[A-Za-z][A-Za-z0-9-]{0,15} +)?((?=[^ ]*[0-9])(?=[^ ]*[A-Za-z])(?![^ ]*REDACTED)[!-~]{20,4096})")
"""What looks random, perhaps with the name of its scheme before it. A placeholder such as `not-needed` is shorter."""


def sent_keys(headers: Headers) -> tuple[re.Pattern[bytes], ...]:
    """What finds the keys in the header of a request, each once."""
    found = (_KEY.fullmatch(value) for name, value in headers if name.lower() in _NAMES)
    return tuple({match[1]: _literally(match[1]) for match in found if match is not None}.values())


@lru_cache(maxsize=64)
def _literally(key: str) -> re.Pattern[bytes]:
    return re.compile(re.escape(key.encode()))
