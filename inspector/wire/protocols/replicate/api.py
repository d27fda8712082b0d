"""Replicate as the tape sees it: of a stream, only its end is known."""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

API = Api(stream_ends=(b"event: done",))

REPLICATE = Registration(
    f"{__package__}.predictions:REPLICATE", API, "replicate-predictions", paths=regex(r"/predictions")
)
