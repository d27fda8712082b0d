"""Cloudflare Workers AI as the tape sees it."""

import re

from turntape.cassettes.apis.interface import Api

from ..shared.ignored import CHAT_IGNORED

API = Api(
    path=re.compile(r"(?:.*/)?(?:ai/run|workers-ai)/@.+"),
    ignored=CHAT_IGNORED,
    stream_ends=(b"data: [DONE]",),
    turn_paths=("/ai/run/@**", "/ai/run/%40**", "/workers-ai/@**", "/workers-ai/%40**"),
)
