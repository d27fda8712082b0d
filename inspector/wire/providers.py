"""Who answered, by upstream, host or headers: tables, since a protocol is spoken by many."""

from turntape.cassettes.tape.model import RoundTrip

from .exchange import Exchange, header

HOSTS: dict[str, str] = {
    "api.openai.com": "openai",
    "chatgpt.com": "openai",
    "api.anthropic.com": "anthropic",
    "openai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure",
    "services.ai.azure.com": "azure",
    "inference.ai.azure.com": "azure",
    "aiplatform.googleapis.com": "vertex",
    "generativelanguage.googleapis.com": "gemini",
    "amazonaws.com": "bedrock",
    "api.aws": "bedrock",
    "openrouter.ai": "openrouter",
    "api.groq.com": "groq",
    "api.x.ai": "xai",
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
    "codestral.mistral.ai": "mistral",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "ollama.com": "ollama",
    "api.together.xyz": "together",
    "api.together.ai": "together",
    "api.fireworks.ai": "fireworks",
    "api.perplexity.ai": "perplexity",
    "api.cerebras.ai": "cerebras",
    "huggingface.co": "huggingface",
    "models.github.ai": "github",
    "models.inference.ai.azure.com": "github",
    "githubcopilot.com": "copilot",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.z.ai": "zai",
    "open.bigmodel.cn": "zai",
    "dashscope.aliyuncs.com": "alibaba",
    "dashscope-intl.aliyuncs.com": "alibaba",
    "api.minimax.io": "minimax",
    "api.sambanova.ai": "sambanova",
    "integrate.api.nvidia.com": "nvidia",
    "api.deepinfra.com": "deepinfra",
    "api.novita.ai": "novita",
    "api.studio.nebius.com": "nebius",
    "api.hyperbolic.xyz": "hyperbolic",
    "api.venice.ai": "venice",
    "api.writer.com": "writer",
    "api.ai21.com": "ai21",
    "api.replicate.com": "replicate",
    "api.doubleword.ai": "doubleword",
    "inference.do-ai.run": "digitalocean",
    "inference.heroku.com": "heroku",
    "api.crusoe.ai": "crusoe",
    "api.portkey.ai": "portkey",
    "api.aleph-alpha.com": "alephalpha",
    "ml.cloud.ibm.com": "watsonx",
    "api.cloudflare.com": "cloudflare",
    "gateway.ai.cloudflare.com": "cloudflare",
    "ai-gateway.vercel.sh": "vercel",
    "databricks.com": "databricks",
    "azuredatabricks.net": "databricks",
    "snowflakecomputing.com": "snowflake",
}
"""A host or the domain above it; the longest match wins."""

UPSTREAMS: dict[str, str] = {"google": "gemini", "aws": "bedrock", "azure-openai": "azure", "x-ai": "xai"}
"""Upstream names that differ from the provider's; any other upstream name is the provider's own."""

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


def provider(round_trip: RoundTrip, exchange: Exchange) -> str | None:
    """The provider's name, or None when nothing on the wire names it."""
    if found := host_provider(exchange.host):
        return found
    if round_trip.upstream:
        return UPSTREAMS.get(round_trip.upstream, round_trip.upstream)
    headers = exchange.response.headers if exchange.response else ()
    return next((name for key, name in HEADERS if header(headers, key) is not None), None)


def host_provider(host: str) -> str | None:
    """The provider of a host or of the longest domain above it that is known."""
    labels = host.split(".")
    for start in range(len(labels) - 1):
        domain = ".".join(labels[start:])
        if domain in HOSTS:
            return HOSTS[domain]
        # Regional hosts of Vertex put the region in front: us-central1-aiplatform.googleapis.com.
        if start == 0 and (rest := domain.partition("-aiplatform.")[2]):
            return HOSTS.get("aiplatform." + rest)
    return None
