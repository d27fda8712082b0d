"""OpenAI Realtime as the tape sees it: its sessions are WebSocket connections."""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

from ..openai_responses.api import SESSION_TURNS

API = Api(path=regex(r"(?:.*/)?realtime"), session_turns=SESSION_TURNS)

OPENAI_REALTIME = Registration(
    f"{__package__}.realtime:OPENAI_REALTIME", API, "openai-realtime", paths=regex(r"/realtime/*$")
)
