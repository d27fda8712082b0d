"""The environment variables that name an API's base URL for clients, and those that hold their keys."""

from ..frozen import frozen


@frozen
class BaseUrl:
    """A variable that names an API's base URL."""

    variable: str
    upstream: str
    suffix: str
    """The path that clients expect after the API's root."""
    note: str
    always: bool = True
    """False: only when the user has set it, or has said by `--upstream` where the API is."""
    is_switch: bool = False
    """True when the client behaves differently once it is set, so that `--upstream '*=URL'` does not set it."""


BASE_URLS = (
    BaseUrl("OPENAI_BASE_URL", "openai", "/v1", "OpenAI SDKs, agents, AI SDK, LangChain, pydantic-ai, litellm"),
    BaseUrl("OPENAI_API_BASE", "openai", "/v1", "llama-index, litellm, older LangChain"),
    BaseUrl("ANTHROPIC_BASE_URL", "anthropic", "", "Anthropic SDKs, Claude Code, claude-agent-sdk, AI SDK"),
    BaseUrl("ANTHROPIC_API_URL", "anthropic", "", "older LangChain", always=False),
    BaseUrl("GOOGLE_GEMINI_BASE_URL", "gemini", "", "google-genai, google-adk, gemini-cli"),
    BaseUrl("GEMINI_API_BASE", "gemini", "/v1beta", "litellm", always=False),
    BaseUrl("CO_API_URL", "cohere", "", "cohere"),
    BaseUrl("OLLAMA_HOST", "ollama", "", "ollama"),
    BaseUrl("OLLAMA_BASE_URL", "ollama", "/v1", "pydantic-ai", always=False),
    BaseUrl("OLLAMA_API_BASE", "ollama", "", "litellm", always=False),
    BaseUrl("OPENROUTER_BASE_URL", "openrouter", "/api/v1", "OpenRouter SDK and agent"),
    BaseUrl("OPENROUTER_API_BASE", "openrouter", "/api/v1", "litellm", always=False),
    # With it, Copilot CLI asks this provider instead of GitHub.
    BaseUrl("COPILOT_PROVIDER_BASE_URL", "copilot-provider", "", "Copilot CLI", always=False, is_switch=True),
    # Every Azure resource has its own host: there is nothing to point at unless the user names it.
    BaseUrl("AZURE_OPENAI_ENDPOINT", "azure", "", "AzureOpenAI", always=False),
    BaseUrl("AZURE_API_BASE", "azure", "", "litellm", always=False),
    # AWS signs the host: behind a base URL of ours the real one would refuse the request. Forward records it.
    BaseUrl("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "bedrock", "", "boto3 and libraries that use it", always=False),
    BaseUrl("AWS_BEDROCK_RUNTIME_ENDPOINT", "bedrock", "", "litellm", always=False),
    BaseUrl("ANTHROPIC_BEDROCK_BASE_URL", "bedrock", "", "AnthropicBedrock, Claude Code", always=False),
    BaseUrl("ANTHROPIC_VERTEX_BASE_URL", "vertex", "", "AnthropicVertex, Claude Code", always=False),
    BaseUrl("GOOGLE_VERTEX_BASE_URL", "vertex", "", "google-genai on Vertex", always=False),
)

KEYS: tuple[str, ...] = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "CO_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "PERPLEXITY_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
)
"""Variables that clients require before they send anything; for a replay any value works."""

OTHER_KEYS: dict[str, str] = {"GEMINI_API_KEY": "GOOGLE_API_KEY", "ANTHROPIC_API_KEY": "ANTHROPIC_AUTH_TOKEN"}
"""The second name under which a client looks for the key; some clients warn when both are set."""
