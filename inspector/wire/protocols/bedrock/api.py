"""Bedrock as the tape sees it: Converse, and the bodies of other APIs in InvokeModel."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields

from ..anthropic.api import IGNORED as ANTHROPIC_IGNORED

CONVERSE_API = Api(
    path=re.compile(r"model/.+/converse(?:-stream)?"),
    ignored=IgnoredFields(
        pointers=(
            "/requestMetadata",
            "/system/*/cachePoint",
            "/messages/*/content/*/cachePoint",
            "/toolConfig/tools/*/cachePoint",
        ),
        ids=("/messages/*/content/*/toolUse/toolUseId", "/messages/*/content/*/toolResult/toolUseId"),
    ),
    stream_ends=(b"messageStop",),
    turn_paths=("/converse", "/converse-stream"),
)
INVOKE_API = Api(
    path=re.compile(r"model/.+/invoke(?:-with-.*)?"),
    ignored=ANTHROPIC_IGNORED,
    # `{"type":"message_stop` in a base64 chunk.
    stream_ends=(b"eyJ0eXBlIjoibWVzc2FnZV9zdG9w",),
    turn_paths=("/invoke", "/invoke-with-response-stream"),
)
