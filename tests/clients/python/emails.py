"""The tools of the story, for any client: five drafts, then one is sent. A script knows nothing of turntape."""

import sys

TASK = "Draft emails to five companies, choose the best one, and send it."
SYSTEM = "You are a sales assistant. Use the tools; be brief."
TURNS = range(8)
"""A loop that is still calling tools after these has gone wrong."""
TOOLS = {
    "generate_email": (
        "Draft a sales email to a company.",
        {
            "type": "object",
            "properties": {"company": {"type": "string"}, "tone": {"type": "string"}},
            "required": ["company", "tone"],
        },
    ),
    "send_email": (
        "Send a draft.",
        {
            "type": "object",
            "properties": {"to": {"type": "string"}, "subject": {"type": "string"}, "draft": {"type": "integer"}},
            "required": ["to", "subject", "draft"],
        },
    ),
}
done: list[str] = []


def generate_email(company: str, tone: str) -> str:
    """Draft a sales email to a company.

    Args:
        company: Whom to write to.
        tone: How it should sound.
    """
    done.append("generate_email")
    return f"drafted a {tone} email to {company}"


def send_email(to: str, subject: str, draft: int) -> str:
    """Send a draft.

    Args:
        to: The address.
        subject: The subject line.
        draft: The number of the draft.
    """
    done.append("send_email")
    return f"sent draft {draft} to {to}: {subject}"


def run(name: str, arguments: dict[str, object]) -> str:
    tools = {"generate_email": generate_email, "send_email": send_email}
    return tools[name](**arguments)  # type: ignore[operator]


def functions() -> list[dict[str, object]]:
    """The tools as OpenAI's Chat Completions declares them; most others copy it."""
    return [
        {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}
        for name, (about, schema) in TOOLS.items()
    ]


def finish(text: str | None) -> None:
    """The last word of a script: exit code 1 when the agent did not live the whole story."""
    print(text)
    if sorted(done) != ["generate_email"] * 5 + ["send_email"]:
        sys.exit(f"the tools were called {done}")
    if "Globex" not in (text or ""):
        sys.exit(f"the last answer was {text!r}")


def variant() -> set[str]:
    """The words of the variant: `chat`, `streamed`, `async`, …"""
    return set(" ".join(sys.argv[1:]).split())
