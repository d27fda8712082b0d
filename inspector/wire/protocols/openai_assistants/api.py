"""OpenAI Assistants as the tape sees it: of a stream, only its end is known."""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

API = Api(stream_ends=(b"event: done",))

OPENAI_ASSISTANTS = Registration(
    f"{__package__}.assistants:OPENAI_ASSISTANTS", API, "openai-assistants", paths=regex(r"/threads|/assistants")
)
