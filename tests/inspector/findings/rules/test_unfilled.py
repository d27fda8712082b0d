"""Places in a prompt template that nobody filled in."""

import pytest

from turntape.inspector.findings.rules.unfilled import unfilled

HELPS = "You are a careful assistant. Answer in one sentence, and return only what was requested. "


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"{HELPS}Today is {{current_date}}.", "{current_date}"),
        (f"{HELPS}You have these tools: {{tool_names}}", "{tool_names}"),
        (f"{HELPS}The user is {{{{ user_name }}}}.", "{{ user_name }}"),
        (f"{HELPS}The user is {{{{.UserName}}}}.", "{{.UserName}}"),
        ("cwd: ${cwd}\nplatform: ${platform}", "${cwd}"),
        ("Today is %s.", "%s"),
        ("The user is %(user_name)s.", "%(user_name)s"),
        ("{user_name?}, a customer of {company}", "{user_name?}"),
        ("You are {topic} Senior Data Researcher", "{topic}"),
        (f"{HELPS}Today is {{DATE}}.", "{DATE}"),
    ],
)
def test_a_place_whose_name_says_what_belongs_there(text: str, place: str | None) -> None:
    assert unfilled(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "The prompt templates have {date} in them.",
        "Fill in {user_name} from the form.",
        "[[ ## question ## ]]\n{question}\nwith the appropriate values filled in.",
        "Write the title as {date} - {topic}.",
        "Respond in this form:\n{date}: {topic}",
        "Name the output {date}.csv",
        "GET /users/{user_id}/orders and https://example.com/{date}",
        "Say `{date}` or '{date}' or \"{date}\".",
        "```\nprint(f'{date}')\n```",
        r"\frac{date}{time} and x_{date}",
        '{"date": {"time": 1}}',
        "{date: 1} and {first second}",
        "100%s and %session and f(%s)",
        "{anything_else} of another name",
        "A dictionary is {} and a set is {1}",
    ],
)
def test_braces_of_another_kind_are_silent(text: str) -> None:
    assert unfilled(text) is None
