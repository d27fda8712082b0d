"""The clients of the matrix, as data: what to install, what to run, and how its turns should look on the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from turntape.proxy.scripted import SALES_EMAILS
from turntape.proxy.scripted.story import Story

from .script import AFTER_A_SEARCH, ENDED_BY_A_CALL

ROUTES = ("base_url", "forward")


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to use a client."""

    words: str
    """The script's arguments: `chat async streamed`."""
    protocol: str
    always_streamed: bool = False
    """True for a client that streams although it is not asked to."""

    @property
    def streamed(self) -> bool:
        return self.always_streamed or "streamed" in self.words.split()


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    script: str
    """Below this folder; its suffix says which runtime it is for."""
    packages: tuple[str, ...]
    """The packages to install; the first is the client itself."""
    variants: tuple[Variant, ...]
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    explained: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why a cell is red, by route, by variant, or by `variant, route`."""
    notes: tuple[str, ...] = ()
    """Remarks for the page."""
    story: Story = SALES_EMAILS
    findings: frozenset[str] = frozenset()
    """The findings that are correct for this client; a note says why."""


def _variants(protocol: str, *words: str) -> tuple[Variant, ...]:
    return tuple(Variant(word, protocol) for word in words)


LEAVES_TEXT_OUT = (
    "It leaves out of the history what the model said beside its calls, which turntape reports as "
    "`client-assistant-mutated`."
)

CLIENTS = (
    Client(
        "openai",
        "python/openai_agent.py",
        ("openai",),
        _variants("openai-chat", "chat", "chat streamed", "chat async", "chat async streamed")
        + _variants(
            "openai-responses", "responses", "responses streamed", "responses async", "responses async streamed"
        ),
    ),
    Client(
        "anthropic",
        "python/anthropic_agent.py",
        ("anthropic",),
        _variants("anthropic-messages", "messages", "messages streamed", "messages async", "messages async streamed")
        + _variants("anthropic-messages", "runner", "runner streamed"),
        notes=("Its tool runner stores the conversation at the API, and each request continues that thread.",),
    ),
    Client(
        "google-genai",
        "python/google_genai_agent.py",
        ("google-genai", "aiohttp"),
        _variants("gemini-generate", "generate", "generate streamed", "generate async", "generate async streamed"),
    ),
    Client(
        "openai-agents",
        "python/openai_agents_agent.py",
        ("openai-agents",),
        _variants("openai-responses", "responses", "responses streamed")
        + _variants("openai-chat", "chat", "chat streamed"),
    ),
    Client(
        "pydantic-ai",
        "python/pydantic_ai_agent.py",
        ("pydantic-ai",),
        _variants("openai-chat", "openai", "openai streamed")
        + _variants("openai-responses", "responses", "responses streamed")
        + (Variant("anthropic", "anthropic-messages", always_streamed=True),)
        + _variants("anthropic-messages", "anthropic streamed")
        + _variants("gemini-generate", "google", "google streamed"),
    ),
    Client(
        "langchain-openai",
        "python/langchain_agent.py",
        ("langchain-openai",),
        _variants("openai-chat", "chat", "chat streamed")
        + _variants("openai-responses", "responses", "responses streamed"),
    ),
    Client(
        "langgraph",
        "python/langgraph_agent.py",
        ("langgraph", "langchain-openai"),
        _variants("openai-chat", "chat", "chat streamed"),
    ),
    Client(
        "litellm",
        "python/litellm_agent.py",
        # Its first completion needs a newer mcp than it asks for.
        ("litellm", "mcp>=2", "boto3"),
        _variants("openai-chat", "openai", "openai streamed")
        + _variants("anthropic-messages", "anthropic", "anthropic streamed")
        + _variants("gemini-generate", "gemini", "gemini streamed")
        + _variants("bedrock-converse", "bedrock", "bedrock streamed"),
    ),
    Client(
        "litellm (proxy)",
        "python/litellm_proxy_agent.py",
        ("litellm[proxy]", "mcp>=2"),
        _variants("openai-chat", "openai", "openai streamed")
        + _variants("anthropic-messages", "anthropic", "anthropic streamed"),
        environ={
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        },
        notes=("Here the gateway is the recorded client. The agent calls the gateway directly.",),
    ),
    Client(
        "mistralai",
        "python/mistral_agent.py",
        ("mistralai",),
        _variants("mistral-chat", "chat", "chat streamed", "chat async", "chat async streamed"),
        notes=(
            "It takes a base URL only as the argument `server_url`, not from the environment; the agent passes it.",
        ),
    ),
    Client("cohere", "python/cohere_agent.py", ("cohere",), _variants("cohere-v2", "chat", "chat streamed")),
    Client("ollama", "python/ollama_agent.py", ("ollama",), _variants("ollama-chat", "chat", "chat streamed")),
    Client(
        "boto3",
        "python/bedrock_agent.py",
        ("boto3",),
        _variants("bedrock-converse", "converse", "converse streamed"),
    ),
    Client(
        "boto3 (invoke)",
        "python/bedrock_invoke_agent.py",
        ("boto3",),
        _variants("bedrock-invoke", "invoke", "invoke streamed"),
    ),
    Client("httpx", "python/httpx_agent.py", ("httpx",), _variants("openai-chat", "chat", "chat streamed")),
    Client("aiohttp", "python/aiohttp_agent.py", ("aiohttp",), _variants("openai-chat", "chat", "chat streamed")),
    Client("requests", "python/requests_agent.py", ("requests",), _variants("openai-chat", "chat", "chat streamed")),
    Client(
        "openai (node)",
        "node/openai_agent.mjs",
        ("openai@latest", "node@24"),
        _variants("openai-chat", "chat", "chat streamed")
        + _variants("openai-responses", "responses", "responses streamed"),
    ),
    Client(
        "@anthropic-ai/sdk",
        "node/anthropic_agent.mjs",
        ("@anthropic-ai/sdk",),
        _variants("anthropic-messages", "messages", "messages streamed", "runner", "runner streamed"),
    ),
    Client(
        "ai",
        "node/ai_sdk_agent.mjs",
        ("ai@latest", "@ai-sdk/openai@latest", "@ai-sdk/anthropic@latest", "zod", "node@24"),
        _variants("openai-responses", "responses", "responses streamed")
        + _variants("openai-chat", "chat", "chat streamed")
        + _variants("anthropic-messages", "anthropic", "anthropic streamed"),
    ),
    Client(
        "fetch (node)",
        "node/fetch_agent.mjs",
        (),
        _variants("openai-chat", "chat", "chat streamed"),
        notes=("Node below 22.21 cannot use a proxy; `turntape run` preloads a module that adds this.",),
    ),
    Client("fetch (node 24)", "node/fetch_agent.mjs", ("node@24",), _variants("openai-chat", "chat", "chat streamed")),
    Client(
        "@openrouter/sdk",
        "node/openrouter_agent.mjs",
        ("@openrouter/sdk",),
        _variants("openai-chat", "chat", "chat streamed"),
    ),
    Client(
        "llama-index",
        "python/llama_index_agent.py",
        ("llama-index-llms-openai", "llama-index-core"),
        _variants("openai-chat", "chat", "chat streamed")
        + _variants("openai-responses", "responses", "responses streamed"),
        notes=("Results of parallel calls come in the order in which the tools finished; a replay accepts any order.",),
    ),
    Client(
        "smolagents",
        "python/smolagents_agent.py",
        ("smolagents[openai]",),
        _variants("openai-chat", "chat", "chat streamed"),
        story=ENDED_BY_A_CALL,
        findings=frozenset({"client-assistant-mutated"}),
        notes=(
            "It writes the model's calls and their results into the history as text, which turntape reports as "
            "`client-assistant-mutated`. It ends a run with a call of the tool `final_answer`.",
        ),
    ),
    Client(
        "autogen-agentchat",
        "python/autogen_agent.py",
        ("autogen-agentchat", "autogen-ext[openai]"),
        _variants("openai-chat", "chat", "chat streamed"),
    ),
    Client(
        "haystack-ai",
        "python/haystack_agent.py",
        ("haystack-ai",),
        _variants("openai-chat", "chat", "chat streamed")
        + _variants("openai-responses", "responses", "responses streamed"),
        findings=frozenset({"client-history-reordered"}),
        notes=(
            "With Responses it puts the calls of an answer in front of what the model said before them (3.4.1), which "
            "turntape reports as `client-history-reordered`.",
        ),
    ),
    Client(
        "strands-agents",
        "python/strands_agent.py",
        ("strands-agents[openai,anthropic]",),
        _variants("openai-chat", "openai streamed")
        + _variants("anthropic-messages", "anthropic streamed")
        + _variants("bedrock-converse", "bedrock", "bedrock streamed"),
    ),
    Client(
        "google-adk",
        "python/google_adk_agent.py",
        ("google-adk",),
        _variants("gemini-generate", "generate", "generate streamed"),
    ),
    Client(
        "crewai",
        "python/crewai_agent.py",
        ("crewai[anthropic,google-genai]",),
        _variants("openai-chat", "openai", "openai streamed")
        + _variants("anthropic-messages", "anthropic", "anthropic streamed")
        + _variants("gemini-generate", "gemini", "gemini streamed"),
        findings=frozenset({"client-assistant-mutated"}),
        notes=(LEAVES_TEXT_OUT,),
    ),
    Client(
        "semantic-kernel",
        "python/semantic_kernel_agent.py",
        ("semantic-kernel",),
        _variants("openai-chat", "chat", "chat streamed"),
        findings=frozenset({"client-assistant-mutated"}),
        notes=(LEAVES_TEXT_OUT,),
    ),
    Client(
        "@mastra/core",
        "node/mastra_agent.mjs",
        ("@mastra/core@latest", "zod", "node@24"),
        _variants("openai-responses", "openai", "openai streamed")
        + _variants("anthropic-messages", "anthropic", "anthropic streamed"),
        notes=("It requires Node 24.",),
    ),
    Client(
        "claude-code",
        "node/claude_code_agent.mjs",
        ("@anthropic-ai/claude-code@latest",),
        (Variant("print", "anthropic-messages", always_streamed=True),),
        story=AFTER_A_SEARCH,
        notes=("By default it offers a tool of an MCP server only after the model searched for it.",),
    ),
    Client(
        "claude-code (no search)",
        "node/claude_code_agent.mjs",
        ("@anthropic-ai/claude-code@latest",),
        (Variant("print", "anthropic-messages", always_streamed=True),),
        environ={"ENABLE_TOOL_SEARCH": "false"},
        notes=("With `ENABLE_TOOL_SEARCH=false` it offers all tools from the start.",),
    ),
    Client(
        "claude-agent-sdk",
        "python/claude_agent_sdk_agent.py",
        ("claude-agent-sdk",),
        (Variant("query", "anthropic-messages", always_streamed=True),),
        story=AFTER_A_SEARCH,
    ),
    Client(
        "codex",
        "node/codex_agent.mjs",
        ("@openai/codex@latest",),
        (
            Variant("exec http", "openai-responses", always_streamed=True),
            Variant("exec websocket", "openai-responses", always_streamed=True),
        ),
        notes=(
            "WebSocket is its default; `exec http` is a separate provider in its config.toml.",
            "It takes no base URL from the environment. Set `openai_base_url` in its config.toml to our address. "
            "The forward route needs no setting.",
        ),
    ),
    Client(
        "gemini-cli",
        "node/gemini_cli_agent.mjs",
        ("@google/gemini-cli@latest",),
        (Variant("prompt", "gemini-generate", always_streamed=True),),
    ),
    Client(
        "opencode",
        "node/opencode_agent.mjs",
        ("opencode-ai@latest",),
        (
            Variant("run openai", "openai-responses", always_streamed=True),
            Variant("run anthropic", "anthropic-messages", always_streamed=True),
        ),
        notes=("It asks for a title in a separate request, which becomes a separate thread.",),
    ),
)

KEYS = {
    "OPENAI_API_KEY": "sk-scripted",
    "ANTHROPIC_API_KEY": "sk-ant-scripted",
    "GEMINI_API_KEY": "scripted",
    "MISTRAL_API_KEY": "scripted",
    "CO_API_KEY": "scripted",
    "OPENROUTER_API_KEY": "sk-or-scripted",
    "AWS_ACCESS_KEY_ID": "AKIASCRIPTED",
    "AWS_SECRET_ACCESS_KEY": "scripted",
    "AWS_DEFAULT_REGION": "us-east-1",
}
"""The scripted LLM takes any key; the clients want one."""
