"""Other hosts that LLM libraries call: telemetry, price lists, vocabularies, traces.

Such a request happens once in a process, or at any time in a thread, so it does not belong to a test's run. It is not
recorded, and not a miss. In a replay it is answered if the cassette has it, and refused otherwise, as if the machine
were offline.
"""

from .uploads import is_upload

_FILES = frozenset(
    {
        # litellm's prices, and other files that libraries fetch when they are imported
        "raw.githubusercontent.com",
        # vocabularies, and what models there are
        "openaipublic.blob.core.windows.net",
        "models.dev",
    }
)
"""These serve files. As all hosts here, each includes its subdomains."""
_HOSTS = _FILES | frozenset(
    {
        # traces
        "smith.langchain.com",
        "langfuse.com",
        "logfire-api.pydantic.dev",
        "logfire-us.pydantic.dev",
        "logfire-eu.pydantic.dev",
        "arize.com",
        "api.traceloop.com",
        # telemetry
        "posthog.com",
        "sentry.io",
        "segment.io",
        "statsig.com",
        "telemetry.crewai.com",
        "os-api.agno.com",
        "browser-intake-datadoghq.com",
        "scarf.sh",
        # credentials of a cloud's machine
        "169.254.169.254",
        "169.254.170.2",
        "metadata.google.internal",
    }
)


def _is_one_of(host: str, hosts: frozenset[str]) -> bool:
    parts = host.lower().rstrip(".").split(".")
    return any(".".join(parts[start:]) in hosts for start in range(len(parts) - 1))


def is_side_traffic(host: str, path: str) -> bool:
    """True for a request that is not to an LLM."""
    return is_upload("POST", path) or _is_one_of(host, _HOSTS)


def is_file_host(host: str) -> bool:
    """True for a host of side traffic that serves files, which anybody may fetch: a test too."""
    return _is_one_of(host, _FILES)
