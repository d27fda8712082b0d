"""smolagents: a ToolCallingAgent on Chat Completions, streamed and not."""

from emails import TASK, finish, generate_email, send_email, variant
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

agent = ToolCallingAgent(
    tools=[tool(generate_email), tool(send_email)],
    model=OpenAIServerModel(model_id="gpt-5"),
    stream_outputs="streamed" in variant(),
    max_steps=6,
    verbosity_level=0,
)
finish(str(agent.run(TASK)))
