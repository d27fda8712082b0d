"""DashScope as the tape sees it."""

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, Spellings
from turntape.cassettes.regex import regex

from .faults import FAULTS

API = Api(
    path=regex(r"(?:.*/)?services/aigc/(?:text|multimodal)-generation/generation"),
    ignored=IgnoredFields(
        pointers=("/parameters/seed", "/user_id"),
        ids=("/input/messages/*/tool_calls/*/id", "/input/messages/*/tool_call_id"),
        spellings=Spellings(
            defaults={
                "/*": (None,),
                "/parameters": ({},),
                "/parameters/*": (None,),
                "/input/messages/*/*": (None,),
                "/input/messages/*/tool_calls": ([],),
            },
            texts=("/input/messages/*/content",),
            json=("/input/messages/*/tool_calls/*/function/arguments",),
            described=("/parameters/tools", "/parameters/response_format"),
        ),
    ),
    faults=FAULTS,
    turn_paths=(
        "/services/aigc/text-generation/generation",
        "/services/aigc/multimodal-generation/generation",
    ),
)

DASHSCOPE = Registration(f"{__package__}.generation:DASHSCOPE", API, "dashscope", paths=regex(r"/services/aigc/"))
