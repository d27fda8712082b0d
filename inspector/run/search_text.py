"""The text of a round trip for searches."""

from .labelled import LabelledRoundTrip

SEARCHED = 200_000
"""How many characters of what is new in a round trip can be searched."""


def search_text(one: LabelledRoundTrip) -> str:
    """Everything new in this round trip: the new messages, the answer, names, findings."""
    reading, turn = one.reading, one.turn
    emission, messages = reading.emission, reading.request.messages
    words = [one.round_trip.request.url, reading.protocol, reading.request.model or "", reading.response_model or ""]
    if emission is not None:
        words += [emission.text, emission.reasoning, emission.refusal or ""]
        words += [f"{call.name} {call.arguments_raw}" for call in (*emission.calls, *emission.server_calls)]
    if reading.error is not None:
        words.append(reading.error.message)
    new = messages
    if turn and turn.history == "extended" and turn.shared:
        new = messages[turn.messages_before :]
        # The last answer, sent back: it is found where it was emitted.
        new = new[next((at for at, message in enumerate(new) if message.role != "assistant"), len(new)) :]
    size = sum(map(len, words))
    for message in reversed(new):
        for part in message.parts:
            said = part.result.text if part.result else part.text
            said = f"{part.call.name} {part.call.arguments_raw}" if part.call else said
            words.append(said[:SEARCHED])
            size += len(said)
        if size > SEARCHED:
            break
    return "\n".join(words)[:SEARCHED].lower()
