"""langchain-openai: a loop over `bind_tools`, on Chat Completions and Responses, streamed and not."""

from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

ASKED = variant()
model = ChatOpenAI(model="gpt-5", use_responses_api="responses" in ASKED).bind_tools(functions())
messages = [SystemMessage(SYSTEM), HumanMessage(TASK)]


def ask():
    if "streamed" not in ASKED:
        return model.invoke(messages)
    chunks = list(model.stream(messages))
    answer = chunks[0]
    for chunk in chunks[1:]:
        answer += chunk
    return answer


text = None
for _ in TURNS:
    answer = ask()
    messages.append(answer)
    if not answer.tool_calls:
        text = answer.text
        break
    messages += [ToolMessage(run(c["name"], c["args"]), tool_call_id=c["id"]) for c in answer.tool_calls]
finish(text if isinstance(text, str) or text is None else text())
