"""The lines that a recording prints: one for a round trip as it ends."""

import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import cast

from ...wire.json_value import as_array, as_object
from ...wire.printable import safe
from .number_format import dollars
from .status_styles import FINISH
from .terminal_text import GLYPHS, Line, ansi, clip, fit
from .turn_lines import other_line, seconds, tokens_text


def console_line(label: Mapping[str, object], cost: Decimal | None, colour: bool) -> str:
    """One line for a round trip as it ends: run, turn, model, the three layers, tokens, what the run cost so far."""
    if label["turn"] is None:
        return ansi(fit(other_line(label), 160), colour)
    model, api, client = as_object(label["model"]), as_object(label["api"]), as_object(label["client"])
    usage = as_object(label["usage"])
    calls = [cast(str, as_object(call)["name"]) for call in as_array(model.get("tool_calls"))]
    emitted = ", ".join(f"{name}×{n}" if n > 1 else name for name, n in Counter(calls).items()) or str(
        model.get("emitted")
    )
    finish = cast(str, api.get("effective", "unknown"))
    name = cast(str, label["response_model"] or label["request_model"] or "?")
    history = "rebuilt" if as_object(label["edge"]).get("kind") == "rebuilt" else cast(str, client.get("history", ""))
    run = label.get("run")
    line: Line = [
        (f"{clip(safe(run), 20):<20} " if isinstance(run, str) else "", "dim"),
        (f"{label['thread']}:{label['turn']:<3} ", "bold"),
        (f"{clip(re.sub(r'-20[0-9-]+$', '', name), 24):<24} ", "plain"),
        (f"{GLYPHS['model']} ", "model"),
        (f"{clip(emitted, 34):<34} ", "plain"),
        (f"{GLYPHS['api']} ", "api"),
        (f"{finish:<12} ", FINISH.get(finish, "warn")),
        (f"{GLYPHS['client']} ", "client"),
        (f"{history:<9} ", "warn" if history == "changed" else "dim"),
        (f"{tokens_text(usage.get('input')):>8} in {tokens_text(usage.get('output')):>6} out ", "plain"),
        (f"{dollars(cost):>9} so far ", "money"),
        (seconds(label["duration_ms"]), "dim"),
    ]
    error = as_object(api.get("error"))
    if error:
        line.append((f"  {clip(str(error.get('message')), 80)}", "bad"))
    return ansi(line, colour)
