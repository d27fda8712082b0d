"""LangGraph: a graph of a model and a tool node, on langchain-openai, streamed and not."""

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

TOOLS = [generate_email, send_email]
model = ChatOpenAI(model="gpt-5").bind_tools(TOOLS)


def think(state: MessagesState) -> dict:
    return {"messages": [model.invoke(state["messages"])]}


graph = StateGraph(MessagesState)
graph.add_node("think", think)
graph.add_node("tools", ToolNode(TOOLS))
graph.add_edge(START, "think")
graph.add_conditional_edges("think", tools_condition)
graph.add_edge("tools", "think")
asked = {"messages": [("system", SYSTEM), ("user", TASK)]}
if "streamed" in variant():
    # Streaming messages out of the graph makes the model stream too.
    text = "".join(
        chunk.content
        for chunk, about in graph.compile().stream(asked, stream_mode="messages")
        if about["langgraph_node"] == "think" and isinstance(chunk.content, str)
    )
else:
    text = graph.compile().invoke(asked)["messages"][-1].content
finish(text)
