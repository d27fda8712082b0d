"""Replicate as the tape sees it: of a stream, only its end is known."""

from turntape.cassettes.apis.interface import Api

API = Api(stream_ends=(b"event: done",))
