"""Bedrock as the tape sees it: Converse, and the bodies of other APIs in InvokeModel."""

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, Spellings
from turntape.cassettes.regex import regex

from ..anthropic.api import IGNORED as ANTHROPIC_IGNORED

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/system": ([],),
        "/inferenceConfig": ({},),
        "/inferenceConfig/*": (None,),
        "/additionalModelRequestFields": ({},),
        "/toolConfig/toolChoice": ({"auto": {}},),
        "/toolConfig/tools": ([],),
        "/toolConfig": ({},),
        "/messages/*/content/*/toolResult/status": ("success",),
        "/messages/*/content/*/toolUse/input": ({}, None),
    },
    described=("/toolConfig/tools",),
)
"""Amazon's reference of Converse, read 2026-11."""

CONVERSE_API = Api(
    path=regex(r"model/.+/converse(?:-stream)?"),
    ignored=IgnoredFields(
        pointers=(
            "/requestMetadata",
            "/system/*/cachePoint",
            "/messages/*/content/*/cachePoint",
            "/toolConfig/tools/*/cachePoint",
        ),
        ids=("/messages/*/content/*/toolUse/toolUseId", "/messages/*/content/*/toolResult/toolUseId"),
        spellings=SPELLINGS,
    ),
    stream_ends=(b"messageStop",),
    turn_paths=("/converse", "/converse-stream"),
)
INVOKE_API = Api(
    path=regex(r"model/.+/invoke(?:-with-.*)?"),
    ignored=ANTHROPIC_IGNORED,
    # `{"type":"message_stop` in a base64 chunk.
    stream_ends=(b"eyJ0eXBlIjoibWVzc2FnZV9zdG9w",),
    turn_paths=("/invoke", "/invoke-with-response-stream"),
)

BEDROCK_CONVERSE = Registration(
    f"{__package__}.converse:BEDROCK_CONVERSE",
    CONVERSE_API,
    "bedrock-converse",
    paths=regex(r"/converse(?:-stream)?/*$"),
)
BEDROCK_INVOKE = Registration(
    f"{__package__}.invoke:BEDROCK_INVOKE",
    INVOKE_API,
    "bedrock-invoke",
    paths=regex(r"/invoke(?:-with-response-stream)?/*$"),
)
BEDROCK_AGENT = Registration(
    f"{__package__}.agent:BEDROCK_AGENT", Api(), "bedrock-agent", paths=regex(r"/agentAliases/|/retrieveAndGenerate")
)
