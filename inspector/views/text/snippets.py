"""A recorded request as a curl command, or as Python with httpx. It reads credentials from the environment."""

import re
import shlex

from turntape.cassettes.tape.model import Request, split_url

_LEFT_OUT = frozenset(
    {"host", "content-length", "content-encoding", "connection", "accept-encoding", "transfer-encoding", "user-agent"}
)
_SECRETS = {
    "authorization": ("Authorization", "Bearer $API_KEY"),
    "x-api-key": ("x-api-key", "$API_KEY"),
    "api-key": ("api-key", "$API_KEY"),
    "x-goog-api-key": ("x-goog-api-key", "$API_KEY"),
}
_OURS = frozenset(_SECRETS.values())
"""The headers in which the shell and Python put the key. A recorded value means itself, whatever it holds."""
_BY_HOST = {"api.anthropic.com": "x-api-key", "generativelanguage.googleapis.com": "x-goog-api-key"}


def _headers(request: Request) -> list[tuple[str, str]]:
    """The headers to send, with the variable `API_KEY` in place of a credential."""
    headers: list[tuple[str, str]] = []
    credential = False
    for name, value in request.headers:
        lowered = name.lower()
        if lowered in _LEFT_OUT:
            continue
        if lowered in _SECRETS:
            headers.append(_SECRETS[lowered])
            credential = True
        elif lowered != "cookie":
            headers.append((name, value))
    if not credential:
        headers.append(_SECRETS[_BY_HOST.get(split_url(request.url).hostname or "", "authorization")])
    return headers


def curl(request: Request) -> str:
    """The request as a command line; `API_KEY` must be set.

    Nothing that was recorded can become an option, a command or the name of a file.
    """
    parts = [f"curl -N -X {shlex.quote(request.method)} --url {shlex.quote(request.url)}"]
    for name, value in _headers(request):
        text = f"{name}: {value}"
        parts.append(f'-H "{text}"' if (name, value) in _OURS else f"-H {shlex.quote(text)}")
    if request.body:
        parts.append(f"--data-raw {shlex.quote(request.body.decode('utf-8', 'surrogateescape'))}")
    return " \\\n  ".join(parts) + "\n"


def python(request: Request) -> str:
    """The request as a short program."""
    headers = ",\n    ".join(f"{name!r}: {_python_value(name, value)}" for name, value in _headers(request))
    text = request.body.decode("utf-8", "surrogateescape")
    return (
        "import os\n\nimport httpx\n\n"
        f"headers = {{\n    {headers},\n}}\n"
        f"body = {text!r}\n"
        f"url = {request.url!r}\n"
        f"with httpx.stream({request.method!r}, url, headers=headers, content=body, timeout=600) as answer:\n"
        "    print(answer.status_code)\n"
        "    for text in answer.iter_text():\n"
        '        print(text, end="", flush=True)\n'
    )


def _python_value(name: str, value: str) -> str:
    if (name, value) not in _OURS:
        return repr(value)
    return "f" + repr(re.sub(r"\$API_KEY", '{os.environ["API_KEY"]}', value))
