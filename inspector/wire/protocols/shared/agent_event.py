"""What an event in an agent's session is for its turn, for every API."""

from typing import Literal

type EventKind = Literal["sent", "done", "waits", "end", "other", "foreign"]
"""`sent`: the client sent it. `done`: the agent does something. `waits`: the agent still waits for the client. `end`:
the turn has ended. `other`: it says something about the session. `foreign`: it belongs to another agent."""

OWNER = "session_turn_of"
"""The field of a turn's request that has the id of its session; it is not on the wire."""
