"""The route table: the upstreams by name, with their URLs and hosts.

A base-URL request names its upstream in its path: `/<upstream>/…`, or `/s/<run>/<upstream>/…` when the run is named.
Clients may put the API's version into their base URL or leave it out.

This is one table and not a trait of each protocol, for two reasons. An upstream is a host: one host has several
protocols (OpenAI has four), and about thirty hosts have the protocol of Chat Completions. And the table is needed
before any protocol is: `turntape run` must know the hosts before it starts the command. To read the protocols takes
about 40 ms more than to import this table.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from ..frozen import frozen
from ..regex import regex


@frozen
class Upstream:
    name: str
    url: str | None
    """Where it is; None when that depends on an account or region and must be given with `--upstream`."""
    hosts: tuple[str, ...] = ()
    """Host patterns (`*` matches anything) that are this upstream's on the forward route."""
    version: str = ""
    """The path that precedes every endpoint, put in when the client left it out: `/v1`."""
    versions: tuple[str, ...] = ()
    """First path segments that are a version already, so that none is put in."""


@frozen
class Location:
    run: str | None
    upstream: Upstream
    path: str
    """The path and query at the upstream, as it should be sent."""
    url: str
    """The upstream's base, `scheme://host[:port]`, without path."""


_OPENAI = ("v1",)

UPSTREAMS: tuple[Upstream, ...] = (
    Upstream("openai", "https://api.openai.com", ("api.openai.com", "*.api.openai.com"), "/v1", _OPENAI),
    Upstream("anthropic", "https://api.anthropic.com", ("api.anthropic.com",), "/v1", ("v1", "api")),
    Upstream(
        "gemini",
        "https://generativelanguage.googleapis.com",
        ("generativelanguage.googleapis.com",),
        "/v1beta",
        ("v1", "v1beta", "v1alpha", "upload", "ws", "download"),
    ),
    Upstream("vertex", None, ("aiplatform.googleapis.com", "*-aiplatform.googleapis.com")),
    Upstream("bedrock", None, ("bedrock-runtime*.amazonaws.com", "bedrock-agent-runtime*.amazonaws.com", "*.api.aws")),
    Upstream(
        "azure",
        None,
        ("*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com", "*.inference.ai.azure.com"),
    ),
    Upstream("mistral", "https://api.mistral.ai", ("api.mistral.ai", "codestral.mistral.ai"), "/v1", _OPENAI),
    Upstream("cohere", "https://api.cohere.com", ("api.cohere.com", "api.cohere.ai"), "", ("v1", "v2")),
    Upstream("ollama", "http://127.0.0.1:11434", ("ollama.com",), "", ("api", "v1")),
    Upstream("openrouter", "https://openrouter.ai", ("openrouter.ai",), "/api/v1", ("api",)),
    Upstream("groq", "https://api.groq.com", ("api.groq.com",), "/openai/v1", ("openai",)),
    Upstream("xai", "https://api.x.ai", ("api.x.ai", "*.api.x.ai"), "/v1", _OPENAI),
    Upstream("deepseek", "https://api.deepseek.com", ("api.deepseek.com",), "", ("v1", "anthropic", "beta")),
    Upstream("together", "https://api.together.xyz", ("api.together.xyz", "api.together.ai"), "/v1", _OPENAI),
    Upstream("fireworks", "https://api.fireworks.ai", ("api.fireworks.ai",), "/inference/v1", ("inference",)),
    Upstream("perplexity", "https://api.perplexity.ai", ("api.perplexity.ai",), "", ("v1",)),
    Upstream("cerebras", "https://api.cerebras.ai", ("api.cerebras.ai",), "/v1", _OPENAI),
    Upstream("nvidia", "https://integrate.api.nvidia.com", ("integrate.api.nvidia.com",), "/v1", _OPENAI),
    Upstream("moonshot", "https://api.moonshot.ai", ("api.moonshot.ai", "api.moonshot.cn"), "/v1", ("v1", "anthropic")),
    Upstream("zai", "https://api.z.ai", ("api.z.ai", "open.bigmodel.cn"), "/api/paas/v4", ("api",)),
    Upstream(
        "huggingface",
        "https://router.huggingface.co",
        ("router.huggingface.co", "api-inference.huggingface.co"),
        "/v1",
        ("v1", "models", "hf-inference", "together", "novita", "cerebras", "groq"),
    ),
    Upstream(
        "github",
        "https://models.github.ai",
        ("models.github.ai", "models.inference.ai.azure.com"),
        "/inference",
        ("inference", "orgs"),
    ),
    Upstream("copilot", "https://api.githubcopilot.com", ("api.githubcopilot.com", "api.*.githubcopilot.com")),
    Upstream("codex", "https://chatgpt.com", ("chatgpt.com",), "", ("backend-api",)),
    Upstream("deepinfra", "https://api.deepinfra.com", ("api.deepinfra.com",), "/v1/openai", ("v1",)),
    Upstream("sambanova", "https://api.sambanova.ai", ("api.sambanova.ai",), "/v1", _OPENAI),
    Upstream(
        "nebius",
        "https://api.studio.nebius.com",
        ("api.studio.nebius.com", "api.tokenfactory.nebius.com"),
        "/v1",
        _OPENAI,
    ),
    Upstream("novita", "https://api.novita.ai", ("api.novita.ai",), "/v3/openai", ("v3", "openai")),
    Upstream("hyperbolic", "https://api.hyperbolic.xyz", ("api.hyperbolic.xyz",), "/v1", _OPENAI),
    Upstream("venice", "https://api.venice.ai", ("api.venice.ai",), "/api/v1", ("api",)),
    Upstream("writer", "https://api.writer.com", ("api.writer.com",), "/v1", _OPENAI),
    Upstream("ai21", "https://api.ai21.com", ("api.ai21.com",), "/studio/v1", ("studio",)),
    Upstream(
        "alibaba",
        "https://dashscope-intl.aliyuncs.com",
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com", "*.maas.aliyuncs.com"),
        "/compatible-mode/v1",
        ("compatible-mode", "api"),
    ),
    Upstream("minimax", "https://api.minimax.io", ("api.minimax.io",), "/v1", ("v1", "anthropic")),
    Upstream("replicate", "https://api.replicate.com", ("api.replicate.com",), "/v1", _OPENAI),
    Upstream("vercel", "https://ai-gateway.vercel.sh", ("ai-gateway.vercel.sh",), "/v1", ("v1", "v3")),
    Upstream("cloudflare", None, ("gateway.ai.cloudflare.com",)),
    Upstream("portkey", "https://api.portkey.ai", ("api.portkey.ai",), "/v1", _OPENAI),
    Upstream("watsonx", None, ("*.ml.cloud.ibm.com",)),
    Upstream("databricks", None, ("*.cloud.databricks.com", "*.azuredatabricks.net")),
    Upstream("snowflake", None, ("*.snowflakecomputing.com",)),
    Upstream("heroku", None, ("*.inference.heroku.com",)),
    Upstream("lmstudio", "http://127.0.0.1:1234", (), "/v1", ("v1", "api")),
    Upstream("llamacpp", "http://127.0.0.1:8080", (), "/v1", ("v1",)),
    Upstream("vllm", "http://127.0.0.1:8000", (), "/v1", _OPENAI),
)

BY_NAME: dict[str, Upstream] = {upstream.name: upstream for upstream in UPSTREAMS}
_ROUTE = regex(r"^(?:/s/(?P<run>[^/]+))?/(?P<name>[a-zA-Z0-9_.-]+)(?P<rest>[/?].*)?$")
_DOUBLED = regex(r"^(/v\d+[a-z]*)(/v\d+[a-z]*)(/.*)?$")


@lru_cache(64)
def by_host(host: str) -> Upstream | None:
    """The upstream that a host name belongs to, or None."""
    lowered = host.lower().rstrip(".")
    for upstream in UPSTREAMS:
        if any(fnmatchcase(lowered, pattern) for pattern in upstream.hosts):
            return upstream
    return None


def endpoint(upstream: Upstream, rest: str) -> str:
    """The path at the upstream, from what follows the upstream's name in a base-URL request."""
    path, mark, query = rest.partition("?")
    if doubled := _DOUBLED.match(path):
        path = doubled[2] + (doubled[3] or "")
    first = path.lstrip("/").split("/", 1)[0]
    if upstream.version and first not in upstream.versions:
        path = upstream.version + path
    return (path or "/") + mark + query


def resolve(name: str, overrides: Mapping[str, str]) -> str | None:
    """The URL of an upstream, given `--upstream`; None when it is unknown."""
    given = overrides.get(name) or overrides.get("*")
    known = BY_NAME.get(name)
    return given or (known.url if known else None)


def joined(base: str, upstream: Upstream, path: str) -> tuple[str, str]:
    """Scheme and authority of `base`, and `path` under whatever path `base` has.

    What a base already has of the path is not repeated: `https://api.groq.com/openai` and `/openai/v1/models` give
    `/openai/v1/models`. A base that ends in a version replaces the upstream's own: under `http://localhost:8000/v1`,
    Groq's `/openai/v1/models` is `/v1/models`.
    """
    parts = urlsplit(base)
    prefix, version = _segments(parts.path), _segments(upstream.version)
    asked = _segments(path.partition("?")[0])
    if version and asked[: len(version)] == version and prefix[-1:] == version[-1:]:
        shared = len(version)
    else:
        shared = next((n for n in range(min(len(prefix), len(asked)), 0, -1) if prefix[-n:] == asked[:n]), 0)
    rest = path
    for segment in asked[:shared]:
        rest = rest.lstrip("/")[len(segment) :]
    return f"{parts.scheme}://{parts.netloc}", "".join(f"/{segment}" for segment in prefix) + rest


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def locate(target: str, overrides: Mapping[str, str] | None = None) -> Location | None:
    """Where an origin-form target of the base-URL route goes; None when it names no upstream that is known.

    `overrides` are `--upstream` values by name; `*` means all others.
    """
    match = _ROUTE.match(target)
    if match is None:
        return None
    overrides = overrides or {}
    name = match["name"].lower()
    base = resolve(name, overrides)
    if base is None or (name not in BY_NAME and name not in overrides):
        return None
    upstream = BY_NAME.get(name) or Upstream(name, base)
    url, path = joined(base, upstream, endpoint(upstream, match["rest"] or "/"))
    if not match["rest"] and name not in BY_NAME:
        path = path.removesuffix("/") or "/"  # the user's URL is the whole one: an MCP server has no other
    return Location(unquote(match["run"]) if match["run"] else None, upstream, path, url)
