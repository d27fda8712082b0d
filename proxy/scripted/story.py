"""The answers of the scripted LLM as data. The number of answers in the history selects the next one."""

from collections.abc import Mapping

from turntape.cassettes.frozen import frozen


@frozen
class Call:
    name: str
    arguments: Mapping[str, object]


@frozen
class Step:
    """One answer: text, calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


type Story = tuple[Step, ...]


def _draft(company: str, tone: str) -> Call:
    return Call("generate_email", {"company": company, "tone": tone})


SALES_EMAILS: Story = (
    Step(
        "I will draft the first three emails.",
        (_draft("Acme Corp", "formal"), _draft("Globex", "friendly"), _draft("Initech", "short")),
    ),
    Step(calls=(_draft("Umbrella", "formal"), _draft("Hooli", "playful"))),
    Step(
        calls=(
            Call("send_email", {"to": "sales@globex.example", "subject": "A quicker way to file reports", "draft": 2}),
        )
    ),
    Step("I drafted five emails and sent the friendly one to Globex: it fits their brand best."),
)
"""Three parallel calls, two more, one, and plain text: the four turns of the demo."""


WRONG_CALLS: Story = (
    SALES_EMAILS[0],
    Step(calls=(Call("compose_email", {"company": "Umbrella"}), _draft("Hooli", "cheerful"))),
    *SALES_EMAILS[1:],
)
"""The same with a wrong second answer: one tool that was not offered, and one tone that the schema forbids."""


def step_after(story: Story, answers: int) -> Step:
    """The step after `answers` answers; the last step is repeated."""
    return story[min(answers, len(story) - 1)]


def call_id(prefix: str, answers: int, place: int) -> str:
    """A call id that depends only on the conversation, so that two runs give the same bytes."""
    return f"{prefix}{answers + 1:02d}{place + 1:02d}" + "k3x9q7w2m5"[:10]
