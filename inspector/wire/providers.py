"""Who answered, by upstream, host or headers, and what is known of each: one row a provider.

A protocol is spoken by many providers, so what differs between them is here and not in a protocol's folder.
"""

from collections.abc import Mapping
from types import MappingProxyType

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from . import cache_rules as rules
from .exchange import Exchange, header
from .values import OnlyInTotal


@frozen
class Provider:
    """One row. Each default is the answer for a provider of which nothing is known."""

    name: str
    """The name in `show --json` and labels."""
    hosts: tuple[str, ...] = ()
    """Hosts, or the domains above them; the longest match counts."""
    upstreams: tuple[str, ...] = ()
    """Names of upstreams that differ from the provider's name. Any other upstream has the name of its provider."""
    prices: str | None = None
    """The provider's id in genai-prices (0.2.3, read 2026-11-21)."""
    resells: bool = False
    """True for a gateway that asks what a model's vendor asks; its models are often called `vendor/model`."""
    unlisted: bool = False
    """True when it has its own prices, which genai-prices does not have."""
    route_prefix: str = ""
    """For a router: what the ids in genai-prices of the hosts that it chooses from begin with."""
    route_header: str = ""
    """For a router: the answer header that names the host."""
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
    says_finish: bool = True
    """False when its answers never have a finish word, or an empty one."""
    parses_calls: bool = False
    """True when the model's vendor parses tool calls, so a call as prose comes from the model and not from a parser."""
    cache: rules.CacheTable | None = None
    """The rules of its prompt cache by model; None: what the protocol says of servers that are not known."""
    caches: Mapping[str, rules.CacheTable] = MappingProxyType({})
    """The same by protocol, where one of its endpoints has other rules."""


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "openai",
        hosts=("api.openai.com", "chatgpt.com"),
        prices="openai",
        own_models=True,
        strict_tools=True,
        parses_calls=True,
        cache=rules.OPENAI,
    ),
    Provider(
        "anthropic",
        hosts=("api.anthropic.com",),
        prices="anthropic",
        own_models=True,
        parses_calls=True,
        cache=rules.CLAUDE,
    ),
    Provider(
        "azure",
        hosts=("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com", "inference.ai.azure.com"),
        upstreams=("azure-openai",),
        prices="azure",
        telemetry="azure.ai.openai",
        named_deployments=True,
        strict_tools=True,
        parses_calls=True,
        cache=rules.OPENAI,
    ),
    Provider(
        "vertex",
        hosts=("aiplatform.googleapis.com",),
        prices="google",
        telemetry="gcp.vertex_ai",
        only_in_total="thoughts",
        cache=(*rules.CLAUDE, *rules.VERTEX_GEMINI),
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
        cache=rules.GEMINI,
    ),
    Provider(
        "bedrock",
        hosts=("amazonaws.com", "api.aws"),
        upstreams=("aws",),
        prices="aws",
        telemetry="aws.bedrock",
        parses_calls=True,
        cache=(*rules.CLAUDE, *rules.NOVA, *rules.OPENAI),
    ),
    Provider("openrouter", hosts=("openrouter.ai",), prices="openrouter", cache=rules.FAMILIES),
    Provider("groq", hosts=("api.groq.com",), prices="groq", own_models=True, cache=rules.GROQ),
    Provider(
        "xai",
        hosts=("api.x.ai",),
        upstreams=("x-ai",),
        prices="x-ai",
        telemetry="x_ai",
        own_models=True,
        cache=rules.XAI,
        caches={"openai-chat": rules.XAI_CHAT},
    ),
    Provider("deepseek", hosts=("api.deepseek.com",), prices="deepseek", own_models=True, cache=rules.DEEPSEEK),
    Provider(
        "mistral",
        hosts=("api.mistral.ai", "codestral.mistral.ai"),
        prices="mistral",
        telemetry="mistral_ai",
        own_models=True,
        parses_calls=True,
        cache=rules.MISTRAL,
    ),
    Provider(
        "cohere",
        hosts=("api.cohere.com", "api.cohere.ai"),
        prices="cohere",
        own_models=True,
        parses_calls=True,
        cache=rules.OPEN,
    ),
    Provider("ollama", hosts=("ollama.com",), own_models=True, local=True, cache=rules.SLOT),
    Provider("together", hosts=("api.together.xyz", "api.together.ai"), prices="together"),
    Provider("fireworks", hosts=("api.fireworks.ai",), prices="fireworks"),
    Provider("perplexity", hosts=("api.perplexity.ai",), prices="perplexity"),
    Provider("cerebras", hosts=("api.cerebras.ai",), prices="cerebras"),
    Provider(
        "huggingface",
        hosts=("huggingface.co",),
        route_prefix="huggingface_",
        route_header="x-inference-provider",
    ),
    Provider(
        "github", hosts=("models.github.ai", "models.inference.ai.azure.com"), unlisted=True, cache=rules.FAMILIES
    ),
    Provider("copilot", hosts=("githubcopilot.com",), prices="github-copilot", cache=rules.FAMILIES),
    Provider("moonshot", hosts=("api.moonshot.ai", "api.moonshot.cn"), prices="moonshotai"),
    Provider("zai", hosts=("api.z.ai", "open.bigmodel.cn"), prices="zai"),
    Provider(
        "alibaba",
        hosts=(
            "dashscope.aliyuncs.com",
            "dashscope-intl.aliyuncs.com",
            "dashscope-us.aliyuncs.com",
            "maas.aliyuncs.com",
        ),
        unlisted=True,
    ),
    Provider("minimax", hosts=("api.minimax.io", "api.minimaxi.com"), prices="minimax"),
    Provider("sambanova", hosts=("api.sambanova.ai",), unlisted=True),
    Provider("nvidia", hosts=("integrate.api.nvidia.com",), unlisted=True),
    Provider("deepinfra", hosts=("api.deepinfra.com",), unlisted=True),
    Provider("novita", hosts=("api.novita.ai",), prices="novita"),
    Provider("nebius", hosts=("api.studio.nebius.com",), unlisted=True),
    Provider("hyperbolic", hosts=("api.hyperbolic.xyz",), unlisted=True),
    Provider("avian", hosts=("api.avian.io",), prices="avian"),
    Provider("baseten", hosts=("inference.baseten.co",), prices="baseten"),
    Provider("ovhcloud", hosts=("oai.endpoints.kepler.ai.cloud.ovh.net",), prices="ovhcloud"),
    Provider("meta", hosts=("api.meta.ai",), prices="meta"),
    Provider("arcee", hosts=("api.arcee.ai",), prices="arcee"),
    Provider("venice", hosts=("api.venice.ai",), unlisted=True, cache=rules.OPEN),
    Provider("writer", hosts=("api.writer.com",), unlisted=True),
    Provider("ai21", hosts=("api.ai21.com",), unlisted=True),
    Provider("replicate", hosts=("api.replicate.com",), unlisted=True),
    Provider("doubleword", hosts=("api.doubleword.ai",), prices="doubleword"),
    Provider("digitalocean", hosts=("inference.do-ai.run",), unlisted=True),
    Provider("heroku", hosts=("inference.heroku.com",), unlisted=True),
    Provider("crusoe", hosts=("api.crusoe.ai", "api.inference.crusoecloud.com"), unlisted=True),
    Provider("portkey", hosts=("api.portkey.ai",), resells=True, cache=rules.FAMILIES),
    Provider("alephalpha", hosts=("api.aleph-alpha.com",), unlisted=True),
    Provider("watsonx", hosts=("ml.cloud.ibm.com",), unlisted=True, telemetry="ibm.watsonx.ai"),
    Provider(
        "cloudflare",
        hosts=("api.cloudflare.com", "gateway.ai.cloudflare.com"),
        prices="cloudflare",
        resells=True,
        cache=rules.FAMILIES,
    ),
    Provider("vercel", hosts=("ai-gateway.vercel.sh",), resells=True, cache=rules.FAMILIES),
    Provider(
        "databricks",
        hosts=("databricks.com", "azuredatabricks.net"),
        prices="databricks",
        named_deployments=True,
        cache=rules.FAMILIES,
    ),
    Provider("snowflake", hosts=("snowflakecomputing.com",), unlisted=True, says_finish=False),
    Provider("litellm", resells=True, cache=rules.FAMILIES),
    Provider("codex", prices="openai", cache=rules.OPENAI),
    Provider("lmstudio", local=True, cache=rules.SLOT),
    Provider("vllm", local=True, cache=rules.VLLM),
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
