"""OpenAI Realtime as the tape sees it: its sessions are WebSocket connections."""

import re

from turntape.cassettes.apis.interface import Api

from ..openai_responses.api import SESSION_TURNS

API = Api(path=re.compile(r"(?:.*/)?realtime"), session_turns=SESSION_TURNS)
