"""A recorded request as something to paste."""

import ast
import json
import shlex

from turntape.cassettes.tape.model import Request
from turntape.inspector.views.text.snippets import curl, python

BODY = json.dumps({"text": 'it\'s "quoted" and\nbroken, $HOME `ls` \u00e9'}).encode()
REQUEST = Request(
    "POST",
    "https://api.anthropic.com/v1/messages?beta=true",
    (
        ("content-type", "application/json"),
        ("x-api-key", "REDACTED-1"),
        ("Host", "api.anthropic.com"),
        ("cookie", "a=b"),
    ),
    BODY,
)


def test_a_shell_reads_the_same_body_back() -> None:
    words = shlex.split(curl(REQUEST).replace("\\\n", " "))

    assert words[words.index("--data-raw") + 1] == BODY.decode()
    assert words[:6] == ["curl", "-N", "-X", "POST", "--url", REQUEST.url]


def test_a_credential_is_named_and_never_written_out() -> None:
    for text in (curl(REQUEST), python(REQUEST)):
        assert "REDACTED" not in text and "cookie" not in text
        assert "API_KEY" in text
    assert '-H "x-api-key: $API_KEY"' in curl(REQUEST)


def test_without_a_recorded_credential_the_host_says_how_it_is_sent() -> None:
    bare = Request("POST", "https://api.openai.com/v1/chat/completions", (), b"{}")

    assert '-H "Authorization: Bearer $API_KEY"' in curl(bare)


def test_the_python_is_a_program_with_the_same_body() -> None:
    tree = ast.parse(python(REQUEST))

    bodies = [
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "body"
        and isinstance(node.value, ast.Constant)
    ]
    assert bodies == [BODY.decode()]


def test_a_recording_that_was_made_to_do_harm_is_only_text() -> None:
    evil = "$API_KEY$(touch stolen)`touch stolen`{print('stolen')}"
    request = Request("POST;touch stolen", "-oanything", (("x-note", evil),), b"@/etc/hostname")

    words = shlex.split(curl(request).replace("\\\n", " "))
    assert words[:6] == ["curl", "-N", "-X", "POST;touch stolen", "--url", "-oanything"]
    assert f"-H {shlex.quote(f'x-note: {evil}')}" in curl(request), "in single quotes"
    assert words[-2:] == ["--data-raw", "@/etc/hostname"]
    assert not any(isinstance(node, ast.Call) for node in ast.walk(_headers_of(python(request))))


def _headers_of(program: str) -> ast.AST:
    assigned = [node for node in ast.parse(program).body if isinstance(node, ast.Assign)]
    return next(node for node in assigned if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "headers")
