"""What makes two requests the same."""

import gzip
import sys
import zlib

import brotli
import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.matching import request_key
from turntape.cassettes.matching.request_key import body_key, canonical, path_key, plain
from turntape.cassettes.tape.bounds import MOST_OF_A_BODY
from turntape.cassettes.tape.compression import compressor

CHAT = "chat/completions"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://api.openai.com/v1/chat/completions", CHAT),
        ("/openai/v1/chat/completions", CHAT),
        ("/openai/chat/completions", CHAT),
        ("/s/my%20run/openai/v1/chat/completions", CHAT),
        ("https://api.groq.com/openai/v1/chat/completions", CHAT),
        ("https://openrouter.ai/api/v1/chat/completions", CHAT),
        ("https://api.fireworks.ai/inference/v1/chat/completions", CHAT),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions", CHAT),
        ("https://api.z.ai/api/paas/v4/chat/completions", CHAT),
        ("http://127.0.0.1:11434/api/chat", "api/chat"),
        ("/ollama/api/chat", "api/chat"),
        ("/gemini/v1beta/models/gemini-2.5-pro:generateContent", "models/gemini-2.5-pro:generateContent"),
        ("/bedrock/model/a.b%3A0/converse", "model/a.b:0/converse"),
        ("/groq/openai/v1/chat/completions", CHAT),
        ("/openai/models", "models"),
        ("/anthropic/messages", "messages"),
        ("/openai", "openai"),
        ("/s/night/openai", "openai"),
        ("/s/models", "s/models"),
        ("/s/night/models", "s/night/models"),
        ("/x/night/openai/models", "x/night/openai/models"),
        ("/v1", "v1"),
        ("/", ""),
    ],
)
def test_the_endpoint_is_what_counts_of_a_path(url: str, key: str) -> None:
    assert path_key(url) == key


def test_two_endpoints_are_never_the_same() -> None:
    paths = ["/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/api/chat", "/v1/chat", "/api/generate"]

    assert len({path_key(path) for path in paths}) == len(paths)


def test_the_query_counts_in_any_order_and_without_its_keys() -> None:
    assert path_key("/v1/x?b=2&a=1&key=secret") == path_key("/x?a=1&b=2&key=other") == "x?a=1&b=2"
    assert path_key("/x?a=") != path_key("/x")


def test_a_parameter_that_was_replaced_does_not_count() -> None:
    """Another key leaves another mark."""
    assert path_key("/x?a=1&note=REDACTED-0123abcd****") == path_key("/x?a=1&note=REDACTED") == "x?a=1"
    assert path_key("/x?note=REDACTED-or-not") == "x?note=REDACTED-or-not"
    assert path_key("/x?a=1") != path_key("/x?a=2")


def test_a_parameter_that_says_nothing_to_its_api_does_not_count() -> None:
    """anthropic 2 asks for beta features with a header alone."""
    assert path_key("https://api.anthropic.com/v1/messages?beta=true") == "messages"
    assert path_key("/v1/messages/count_tokens?beta=true&a=1") == "messages/count_tokens?a=1"
    assert path_key("/v1/chat/completions?beta=true") == "chat/completions?beta=true"


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("gzip", gzip.compress(b'{"a":1}', mtime=0)),
        ("X-GZIP ", gzip.compress(b'{"a":1}', mtime=0)),
        ("deflate", zlib.compress(b'{"a":1}')),
        ("zstd", compressor().compress(b'{"a":1}', compressor().FLUSH_FRAME)),
        ("br", brotli.compress(b'{"a":1}')),
        ("gzip", gzip.compress(b'{"a"') + gzip.compress(b":1}")),
        ("deflate, gzip", gzip.compress(zlib.compress(b'{"a":1}'))),
        ("identity", b'{"a":1}'),
    ],
    ids=["gzip", "x-gzip", "deflate", "zstd", "br", "two members", "two encodings", "identity"],
)
def test_a_body_is_compared_without_its_encoding(encoding: str, encoded: bytes) -> None:
    assert plain(encoded, (("Content-Encoding", encoding),)) == b'{"a":1}'


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br", "snappy"])
def test_a_body_that_does_not_decode_is_compared_as_it_came(encoding: str) -> None:
    assert plain(b"not encoded at all", (("content-encoding", encoding),)) == b"not encoded at all"


def test_brotli_is_compared_as_it_came_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = brotli.compress(b'{"a":1}')
    monkeypatch.setitem(sys.modules, "brotli", None)

    assert plain(encoded, (("content-encoding", "br"),)) == encoded


def test_a_body_that_is_endless_without_its_encoding_is_compared_as_it_came() -> None:
    bomb = gzip.compress(bytes(MOST_OF_A_BODY + 1))

    assert plain(bomb, (("content-encoding", "gzip"),)) == bomb


def test_the_first_header_of_a_name_counts_in_any_case() -> None:
    headers = (("X-A", "one"), ("x-a", "two"))

    assert request_key.header(headers, "x-a") == "one"
    assert request_key.header(headers, "x-b") == ""


def test_a_digest_has_16_bytes() -> None:
    """An index keeps several for each recorded request."""
    assert len(request_key.digest(b"")) == len(request_key.digest(b"x" * 1000)) == 16


def test_the_spelling_of_json_is_ignored_and_everything_else_is_compared() -> None:
    assert canonical(b'{ "b": [1, 2], "a": "\\u00e9" }') == canonical('{"a":"é","b":[1,2]}'.encode())
    assert canonical(b'{"a":[1,2]}') != canonical(b'{"a":[2,1]}')
    assert canonical(b'[ {"b":1, "a":2} ]') == b'[{"a":2,"b":1}]'
    assert canonical(b'{"a":1') == b'{"a":1'
    assert canonical(b"a=1&b=2") == b"a=1&b=2"


def key(body: bytes, content_type: str = "application/json") -> bytes:
    return body_key(body, (("content-type", content_type),), Redactor(salt="s"))


def test_a_form_is_the_same_under_any_boundary() -> None:
    def form(boundary: str, field: str) -> bytes:
        body = f'--{boundary}\r\ncontent-disposition: form-data; name="f"\r\n\r\n{field}\r\n--{boundary}--\r\n'
        return key(body.encode(), f'multipart/form-data; boundary="{boundary}"')

    assert form("abc123", "one") == form("xyz789", "one") != form("abc123", "two")


def test_which_secret_a_body_holds_does_not_count_on_either_side() -> None:
    secret = "sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
    sent = b'{"content":"my key is %s"}' % secret.encode()
    other = b'{"content":"my key is %s"}' % secret.replace("abc", "xyz").encode()
    recorded = Redactor(salt="s").body(sent)

    assert secret.encode() not in recorded
    assert key(recorded) == key(sent) == key(other)
    assert key(sent) != key(b'{"content":"my key is none"}')


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/model/a.claude-v1%3A0/converse", "model/a.claude-v1:0/converse"),
        ("/v1beta/%6dodels/m%3agenerateContent", "models/m:generateContent"),
        ("/model/arn%3Aaws%2Fa/invoke", "model/arn:aws%2Fa/invoke"),
        ("/x/%c3%bc%20%3f%zz", "x/%C3%BC%20%3F%zz"),
    ],
    ids=["the colon of a model", "in any spelling", "a slash in a segment stays", "what needs an escape keeps it"],
)
def test_an_escape_that_a_path_does_not_need_does_not_count(path: str, key: str) -> None:
    assert path_key(path) == key
