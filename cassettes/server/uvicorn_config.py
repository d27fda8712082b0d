"""How uvicorn is set up for a replay: it prints nothing, and adds nothing to the recorded answers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uvicorn


def silent_config(app: Any, **more: Any) -> "uvicorn.Config":
    """The configuration of a server for `app`, with `more` options of uvicorn."""
    import uvicorn  # of the extra `proxy`

    return uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        **more,
    )
