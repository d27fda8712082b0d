"""Cloudflare Workers AI as the tape sees it."""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED

API = Api(
    path=regex(r"(?:.*/)?(?:ai/run|workers-ai)/@.+"),
    ignored=CHAT_IGNORED,
    stream_ends=(b"data: [DONE]",),
    turn_paths=("/ai/run/@**", "/ai/run/%40**", "/workers-ai/@**", "/workers-ai/%40**"),
)

CLOUDFLARE_RUN = Registration(
    f"{__package__}.run:CLOUDFLARE_RUN", API, "cloudflare-run", paths=regex(r"/(?:ai/run|workers-ai)/")
)
