"""Programs that start tool servers from their own code: a module of ours in the program does it.

It is loaded by PYTHONPATH and NODE_OPTIONS, and does nothing until the program uses an MCP SDK.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .wrapper import Wrapper

VARIABLE = "TURNTAPE_TOOL_WIRE"
HOOKS = Path(__file__).parent / "hooks"


def variables(
    environ: Mapping[str, str],
    wrapper: Wrapper,
    *,
    missing: bool = False,
    known: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, str]:
    """The variables to add to `environ`. With `missing`, a server is wrapped although its program does not exist.

    `known` has commands of servers by name, which Node wraps whoever starts them.
    """
    commands = [{"front": wrapper.words(name), "words": list(words)} for name, words in known.items()]
    python = [str(HOOKS), *(place for place in [environ.get("PYTHONPATH", "")] if place)]
    node = f'{environ.get("NODE_OPTIONS", "")} --require "{HOOKS / "node_hook.cjs"}"'.strip()
    return {
        VARIABLE: json.dumps(
            {"wrapper": wrapper.words(None), "missing": missing} | ({"known": commands} if commands else {})
        ),
        "PYTHONPATH": os.pathsep.join(python),
        "NODE_OPTIONS": node,
    }
