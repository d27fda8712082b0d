"""Events of OpenAI Responses that grow the commands of a shell call, and what the commands wrote."""

from ...json_value import Object, as_array, as_count, as_object, as_text

_MOST = 1000
"""Commands of one call; an index beyond it counts as the last."""


def grow_command(item: Object, event: Object, verb: str) -> None:
    """Add an event's piece of a command to a `shell_call`; `done` has the command whole."""
    action = item["action"] = {**as_object(item.get("action"))}
    commands = action["commands"] = [*as_array(action.get("commands"))]
    place = _place(event)
    commands += [""] * (place + 1 - len(commands))
    if verb == "delta":
        commands[place] = (as_text(commands[place]) or "") + (as_text(event.get("delta")) or "")
    else:
        commands[place] = as_text(event.get("command")) or ""


def grow_output(item: Object, event: Object, verb: str) -> None:
    """Add an event's piece of what a command wrote to a `shell_call_output`; `done` has it whole."""
    chunks = item["output"] = [*as_array(item.get("output"))]
    place = _place(event)
    chunks += [{} for _ in range(place + 1 - len(chunks))]
    chunk = {**as_object(chunks[place])}
    if verb == "delta":
        for key, piece in as_object(event.get("delta")).items():
            chunk[key] = (as_text(chunk.get(key)) or "") + (as_text(piece) or "")
        chunks[place] = chunk
        return
    whole = [as_object(one) for one in as_array(event.get("output"))]
    if len(whole) == 1:
        chunks[place] = whole[0]
    elif whole:
        chunks[place] = {**whole[-1], **{key: "".join(as_text(one.get(key)) or "" for one in whole)
                                         for key in ("stdout", "stderr")}}  # fmt: skip


def _place(event: Object) -> int:
    return min(max(as_count(event.get("command_index")) or 0, 0), _MOST)
