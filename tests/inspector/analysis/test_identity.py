"""Who sent a request."""

import pytest
from conversations import HELLO, chat, said, sent

from turntape.inspector.analysis.identity import Identity, identity
from turntape.inspector.wire.parse import read


def of(headers: dict[str, str] | None = None, **fields: object) -> Identity:
    trip = sent(chat([HELLO], said("x"), **fields), **(headers or {}))  # type: ignore[arg-type]
    return identity(trip, read(trip))


def test_most_clients_say_nothing() -> None:
    assert of() == Identity(None, None, None, None, None)


@pytest.mark.parametrize(
    "name",
    [
        "X-Claude-Code-Session-Id",
        "session-id",
        "session_id",
        "x-session-id",
        "x-opencode-session",
        "x-session-affinity",
        "x-conversation-id",
        "x-litellm-session-id",
        "Helicone-Session-Id",
    ],
)
def test_every_header_of_a_session_is_read(name: str) -> None:
    assert of({name: "s1"}) == Identity(session="s1")


@pytest.mark.parametrize("name", ["X-Claude-Code-Agent-Id", "thread-id", "x-openai-subagent"])
def test_every_header_of_an_agent_is_read(name: str) -> None:
    assert of({name: "a1"}).agent == "a1"


@pytest.mark.parametrize("name", ["X-Claude-Code-Parent-Agent-Id", "x-codex-parent-thread-id"])
def test_every_header_of_a_parent_is_read(name: str) -> None:
    assert of({name: "p1"}).parent == "p1"


def test_the_first_header_of_the_list_is_taken() -> None:
    assert of({"helicone-session-id": "late", "session-id": "early"}).session == "early"


@pytest.mark.parametrize("name", ["x-claude-code-request-class", "x-openai-subagent"])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("subagent", "subagent"),
        ("workflow", "subagent"),
        ("compaction", "compaction"),
        ("auxiliary", "side_call"),
        ("collab_spawn", "subagent"),
        ("review", "subagent"),
        ("compact", "compaction"),
        ("memory_consolidation", "side_call"),
    ],
)
def test_the_class_of_a_request_is_one_of_our_words(name: str, value: str, kind: str) -> None:
    assert of({name: f" {value.upper()} "}).kind == kind
    assert of({name: "something else"}).kind is None


@pytest.mark.parametrize(
    ("value", "trace"),
    [
        (f"00-{'a' * 32}-{'1' * 16}-01", "a" * 32),
        (f" 00-{'A' * 32}-{'1' * 16}-01-more ", "a" * 32),
        (f"00-{'a' * 31}-{'1' * 16}-01", None),
        ("", None),
    ],
)
def test_a_trace_is_its_id_in_a_valid_header(value: str, trace: str | None) -> None:
    assert of({"traceparent": value}).trace == trace


def test_an_older_session_is_in_the_metadata() -> None:
    user = "user_1_account__session_0a1b2c3d-4e5f"

    assert of(metadata={"user_id": user}).session == "0a1b2c3d-4e5f"
    assert of({"session-id": "s"}, metadata={"user_id": user}).session == "s"
    for other in ("user_1_session_0a1b", "user_1_session_0a1b2c3d and more", 7):
        assert of(metadata={"user_id": other}).session is None
