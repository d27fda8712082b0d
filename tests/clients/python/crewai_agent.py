"""CrewAI: a crew of one agent on OpenAI, Anthropic and Gemini models, streamed and not."""

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from emails import SYSTEM, TASK, finish, generate_email, send_email, variant

ASKED = variant()
MODELS = {"openai": "openai/gpt-5", "anthropic": "anthropic/claude-sonnet-4-5", "gemini": "gemini/gemini-2.5-pro"}
model = next(MODELS[word] for word in MODELS if word in ASKED)
agent = Agent(
    role="sales assistant",
    goal=SYSTEM,
    backstory="You write emails.",
    tools=[tool("generate_email")(generate_email), tool("send_email")(send_email)],
    llm=LLM(model=model, stream="streamed" in ASKED),
    max_iter=8,
)
task = Task(description=TASK, expected_output="What was sent to whom.", agent=agent)
finish(Crew(agents=[agent], tasks=[task]).kickoff().raw)
