"""Who answered, by upstream, host or headers, and what is known of each: one row a provider.

A protocol is spoken by many providers, so what differs between them is here and not in a protocol's folder.
"""

from dataclasses import dataclass

from turntape.cassettes.tape.model import RoundTrip

from .exchange import Exchange, header
from .values import OnlyInTotal


@dataclass(frozen=True, slots=True)
class Provider:
    """One row. Each default is the answer for a provider of which nothing is known."""

    name: str
    """The name in `show --json` and labels."""
    hosts: tuple[str, ...] = ()
    """Hosts, or the domains above them; the longest match counts."""
    upstreams: tuple[str, ...] = ()
    """Names of upstreams that differ from the provider's; any other upstream is a provider of its own name."""
    prices: str | None = None
    """The provider's id in genai-prices (0.2.3, read 2026-11-21)."""
    telemetry: str | None = None
    """The name in OpenTelemetry's GenAI conventions, where it differs."""
    named_deployments: bool = False
    """True when users name their deployments of a model as they like."""
    own_models: bool = False
    """True when a model has no name but the provider's own."""
    local: bool = False
    """True when it usually runs on the user's machine."""
    strict_tools: bool = False
    """True when the server, and not only the protocol, keeps arguments to a strict schema."""
    only_in_total: OnlyInTotal = "cached"
    """What tokens are that its answers in the shape of Chat Completions count in the total alone."""
    parses_calls: bool = False
    """True when the model's vendor parses tool calls, so a call as prose comes from the model and not from a parser."""


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "openai",
        hosts=("api.openai.com", "chatgpt.com"),
        prices="openai",
        own_models=True,
        strict_tools=True,
        parses_calls=True,
    ),
    Provider("anthropic", hosts=("api.anthropic.com",), prices="anthropic", own_models=True, parses_calls=True),
    Provider(
        "azure",
        hosts=("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com", "inference.ai.azure.com"),
        upstreams=("azure-openai",),
        prices="azure",
        telemetry="azure.ai.openai",
        named_deployments=True,
        strict_tools=True,
        parses_calls=True,
    ),
    Provider(
        "vertex",
        hosts=("aiplatform.googleapis.com",),
        prices="google",
        telemetry="gcp.vertex_ai",
        only_in_total="thoughts",
        named_deployments=True,
    ),
    Provider(
        "gemini",
        hosts=("generativelanguage.googleapis.com",),
        upstreams=("google",),
        prices="google",
        telemetry="gcp.gemini",
        only_in_total="thoughts",
        own_models=True,
        parses_calls=True,
    ),
    Provider(
        "bedrock",
        hosts=("amazonaws.com", "api.aws"),
        upstreams=("aws",),
        prices="aws",
        telemetry="aws.bedrock",
        parses_calls=True,
    ),
    Provider("openrouter", hosts=("openrouter.ai",), prices="openrouter"),
    Provider("groq", hosts=("api.groq.com",), prices="groq", own_models=True),
    Provider("xai", hosts=("api.x.ai",), upstreams=("x-ai",), prices="x-ai", telemetry="x_ai", own_models=True),
    Provider("deepseek", hosts=("api.deepseek.com",), prices="deepseek", own_models=True),
    Provider(
        "mistral",
        hosts=("api.mistral.ai", "codestral.mistral.ai"),
        prices="mistral",
        telemetry="mistral_ai",
        own_models=True,
        parses_calls=True,
    ),
    Provider("cohere", hosts=("api.cohere.com", "api.cohere.ai"), prices="cohere", own_models=True, parses_calls=True),
    Provider("ollama", hosts=("ollama.com",), own_models=True, local=True),
    Provider("together", hosts=("api.together.xyz", "api.together.ai"), prices="together"),
    Provider("fireworks", hosts=("api.fireworks.ai",), prices="fireworks"),
    Provider("perplexity", hosts=("api.perplexity.ai",), prices="perplexity"),
    Provider("cerebras", hosts=("api.cerebras.ai",), prices="cerebras"),
    Provider("huggingface", hosts=("huggingface.co",), prices="huggingface_novita"),
    Provider("github", hosts=("models.github.ai", "models.inference.ai.azure.com")),
    Provider("copilot", hosts=("githubcopilot.com",)),
    Provider("moonshot", hosts=("api.moonshot.ai", "api.moonshot.cn"), prices="moonshotai"),
    Provider("zai", hosts=("api.z.ai", "open.bigmodel.cn")),
    Provider("alibaba", hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com")),
    Provider("minimax", hosts=("api.minimax.io",)),
    Provider("sambanova", hosts=("api.sambanova.ai",)),
    Provider("nvidia", hosts=("integrate.api.nvidia.com",)),
    Provider("deepinfra", hosts=("api.deepinfra.com",)),
    Provider("novita", hosts=("api.novita.ai",), prices="novita"),
    Provider("nebius", hosts=("api.studio.nebius.com",)),
    Provider("hyperbolic", hosts=("api.hyperbolic.xyz",)),
    Provider("venice", hosts=("api.venice.ai",)),
    Provider("writer", hosts=("api.writer.com",)),
    Provider("ai21", hosts=("api.ai21.com",)),
    Provider("replicate", hosts=("api.replicate.com",)),
    Provider("doubleword", hosts=("api.doubleword.ai",)),
    Provider("digitalocean", hosts=("inference.do-ai.run",)),
    Provider("heroku", hosts=("inference.heroku.com",)),
    Provider("crusoe", hosts=("api.crusoe.ai",)),
    Provider("portkey", hosts=("api.portkey.ai",)),
    Provider("alephalpha", hosts=("api.aleph-alpha.com",)),
    Provider("watsonx", hosts=("ml.cloud.ibm.com",), telemetry="ibm.watsonx.ai"),
    Provider("cloudflare", hosts=("api.cloudflare.com", "gateway.ai.cloudflare.com")),
    Provider("vercel", hosts=("ai-gateway.vercel.sh",)),
    Provider("databricks", hosts=("databricks.com", "azuredatabricks.net"), named_deployments=True),
    Provider("snowflake", hosts=("snowflakecomputing.com",)),
    Provider("litellm"),
    Provider("codex", prices="openai"),
    Provider("lmstudio", local=True),
    Provider("vllm", local=True),
)

HEADERS: tuple[tuple[str, str], ...] = (
    ("x-litellm-version", "litellm"),
    ("x-litellm-model-id", "litellm"),
    ("x-groq-region", "groq"),
    ("x-amzn-bedrock-invocation-latency", "bedrock"),
    ("apim-request-id", "azure"),
    ("x-ms-region", "azure"),
    ("anthropic-organization-id", "anthropic"),
    ("openai-version", "openai"),
    ("openai-organization", "openai"),
    ("x-portkey-provider", "portkey"),
)
"""Answer headers that give a provider away behind a foreign host; the first that is there counts."""

_BY_NAME = {row.name: row for row in PROVIDERS}
_BY_HOST = {host: row.name for row in PROVIDERS for host in row.hosts}
_BY_UPSTREAM = {upstream: row.name for row in PROVIDERS for upstream in row.upstreams}


def provider_of(name: str | None) -> Provider:
    """The row of a provider; for any other name a row of which nothing is known."""
    return _BY_NAME.get(name or "") or Provider(name or "")


def provider(round_trip: RoundTrip, exchange: Exchange) -> str | None:
    """The provider's name, or None when nothing on the wire names it."""
    if found := host_provider(exchange.host):
        return found
    if round_trip.upstream:
        return _BY_UPSTREAM.get(round_trip.upstream, round_trip.upstream)
    headers = exchange.response.headers if exchange.response else ()
    return next((name for key, name in HEADERS if header(headers, key) is not None), None)


def host_provider(host: str) -> str | None:
    """The provider of a host or of the longest domain above it that is known."""
    labels = host.split(".")
    for start in range(len(labels) - 1):
        domain = ".".join(labels[start:])
        if domain in _BY_HOST:
            return _BY_HOST[domain]
        # Regional hosts of Vertex put the region in front: us-central1-aiplatform.googleapis.com.
        if start == 0 and (rest := domain.partition("-aiplatform.")[2]):
            return _BY_HOST.get("aiplatform." + rest)
    return None
