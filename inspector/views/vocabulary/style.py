"""The meanings that a piece of text may have; each view gives them its own look."""

from typing import Literal

type Style = Literal["plain", "dim", "bold", "model", "api", "client", "tool", "good", "warn", "bad", "money"]
