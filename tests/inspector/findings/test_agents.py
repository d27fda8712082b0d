from conversations import HELLO, chat, said

from turntape.inspector.findings.agents import Agent, agent_of
from turntape.inspector.wire.parse import read

DONE = said("It is a strip.")


def agent(prompt: str, *, tools: bool = True) -> Agent | None:
    system = {"role": "system", "content": prompt}
    trip = chat([system, HELLO], DONE) if tools else chat([system, HELLO], DONE, tools=None)
    return agent_of(read(trip).request)


def test_an_agent_is_known_by_its_tools_and_the_front_of_its_prompt() -> None:
    front = "You look words up and say what they mean, in one short sentence each, and never guess at all."

    assert agent(f"{front} It is 10:15.") == agent(f"{front} It is 10:16.")
    assert agent(front) != agent(front, tools=False)
    assert agent(front) != agent(f"Never mind. {front}")


def test_a_request_without_tools_and_with_a_short_prompt_has_no_agent() -> None:
    assert agent("Be kind.", tools=False) is None
