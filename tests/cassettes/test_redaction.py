"""No secret reaches the disk, wherever it sits."""

import base64
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import (
    Cassette,
    CassetteError,
    Chunk,
    Failure,
    Frame,
    Player,
    Recorder,
    Redactor,
    Request,
    Response,
    RoundTrip,
)

LONG = "abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
SECRETS = {
    "openai": f"sk-{LONG}",
    "openai-project": f"sk-proj-{LONG}_x-y",
    "anthropic": f"sk-ant-api03-{LONG}",
    "openrouter": f"sk-or-v1-{LONG}",
    "google": f"AIza{LONG[:35]}",
    "aws-id": "AKIAQ3EGRYJ7HWFT4ZXC",
    "github": f"ghp_{LONG}",
    "github-fine": f"github_pat_{LONG}",
    "gitlab": f"glpat-{LONG[:20]}",
    "slack": f"xoxb-{LONG}",
    "huggingface": f"hf_{LONG}",
    "groq": f"gsk_{LONG}",
    "stripe": f"sk_live_{LONG}",
    "npm": f"npm_{LONG[:36]}",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{LONG}",
    "password": "hunter2-and-more",
    "private-key": f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{LONG}{LONG}",
    "aws-secret": "wJalrXUtnFEMIK7MDENGbPxRfiCYzzTOPSECRETK",
}
WRITTEN = {
    "jwt": "Authorization: Bearer {}",
    "password": "postgres://app:{}@db.example/x",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----",
    "aws-secret": "aws_secret_access_key={}",
}


def text(name: str) -> str:
    return WRITTEN.get(name, "the key is {} ok").format(SECRETS[name])


def sse(data: str) -> bytes:
    return f'data: {{"delta":"{data}"}}\n\ndata: [DONE]\n\n'.encode()


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
@pytest.mark.parametrize("name", SECRETS)
def test_a_planted_secret_is_nowhere_in_the_file(name: str, suffix: str, tmp_path: Path) -> None:
    from proxy_frames import event_stream  # the builder of AWS frames, shared with the scripted LLM's tests

    secret, said = SECRETS[name], text(name)
    streamed = sse(said)
    middle = streamed.index(secret.encode()) + 5
    body = f'{{"messages":[{{"role":"tool","tool_call_id":"call_1","content":"{said}"}}],"user":"{said}"}}'.encode()
    trips = [
        RoundTrip(
            Request(
                "POST",
                f"https://user:{secret}@api.example/v1?key={secret}&x={said.replace(' ', '+')}",
                (
                    ("Authorization", f"Bearer {secret}"),
                    ("X-Mine", secret),
                    ("Cookie", f"a={secret}; b=2"),
                    ("User-Agent", said),
                ),
                body,
            ),
            Response(
                200,
                "OK",
                (("set-cookie", f"s={secret}"), ("x-note", said), ("content-type", "text/event-stream")),
                streamed,
                (Chunk(middle, 1), Chunk(len(streamed) - middle, 2)),
                trailers=(("x-end", said),),
            ),
            1.0,
            failure=Failure("cut", said),
            faults=(said,),
            frames=(Frame("client", 1, body, True), Frame("server", 2, said.encode(), False)),
        ),
        RoundTrip(
            Request("POST", "https://api.example/v1", (), b"{}"),
            Response(401, "No", (), f'{{"error":{{"message":"bad key {said}"}}}}'.encode()),
            2.0,
        ),
        RoundTrip(
            Request("POST", "https://bedrock.example/model/x/converse-stream", (), b"{}"),
            Response(200, "OK", (("content-type", "application/vnd.amazon.eventstream"),), event_stream(said.encode())),
            3.0,
        ),
    ]
    path = tmp_path / f"run.cassette.{suffix}"
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)

    read = list(Cassette.load(path))
    plain = path.read_bytes()
    for trip in read:
        assert trip.response is not None
        plain += trip.request.body + trip.response.body + b"".join(frame.data for frame in trip.frames)
        plain += repr(trip).encode() + base64.b64encode(trip.response.body)
    assert secret.encode() not in plain
    assert [len(trip.response.body) for trip in read if trip.response] == [
        len(trip.response.body) for trip in trips if trip.response
    ]
    assert read[0].request.body.count(b"REDACTED") == 2


def test_an_event_stream_is_still_whole_after_redaction() -> None:
    from botocore.eventstream import EventStreamBuffer
    from proxy_frames import event_stream

    trip = RoundTrip(
        Request("POST", "https://x.example"),
        Response(
            200,
            "",
            (("content-type", "application/vnd.amazon.eventstream"),),
            event_stream(text("openai").encode()) * 2,
        ),
        1.0,
    )
    clean = Redactor().round_trip(trip).response
    assert clean is not None

    buffer = EventStreamBuffer()
    buffer.add_data(clean.body)

    assert [b"REDACTED" in event.payload for event in buffer] == [True, True]


def test_ids_and_signatures_that_must_be_echoed_are_never_touched() -> None:
    signature = base64.b64encode(bytes(range(256)) * 4).decode()
    body = (
        f'{{"id":"msg_01{LONG}","t":"toolu_01{LONG}","c":"call_{LONG}","r":"rs_{LONG}","f":"fc_{LONG}",'
        f'"signature":"{signature}sk-","encrypted_content":"gAAAAA{LONG}{LONG}","s":"task-{LONG} risk-{LONG}"}}'
    ).encode()

    assert Redactor().body(body) == body


def test_equal_secrets_look_equal_within_a_salt_and_nowhere_else() -> None:
    one, same, other = Redactor(salt="a"), Redactor(salt="a"), Redactor(salt="b")
    header = (("authorization", f"Bearer {SECRETS['openai']}"),)

    assert one.headers(header) == same.headers(header) != other.headers(header)
    assert one.headers(header) != one.headers((("authorization", "Bearer sk-another"),))
    assert one.headers(header)[0][1].startswith("Bearer REDACTED-")


def test_headers_are_stored_by_allow_list() -> None:
    headers = (("Content-Type", "a/b"), ("X-Stainless-Lang", "python"), ("X-Unheard-Of", "v"), ("x-mine", "w"))

    kept = dict(Redactor(allow_headers=("X-Mine",)).headers(headers))

    assert (kept["Content-Type"], kept["X-Stainless-Lang"], kept["x-mine"]) == ("a/b", "python", "w")
    assert kept["X-Unheard-Of"].startswith("REDACTED-")


def test_aws_signatures_are_replaced_whole() -> None:
    value = "AWS4-HMAC-SHA256 Credential=AKIAQ3EGRYJ7HWFT4ZXC/20261121/us-east-1/bedrock/aws4_request, Signature=abc"
    redactor = Redactor()

    [(_, shown)] = redactor.headers((("Authorization", value),))
    url = redactor.url("https://x.example/?X-Amz-Signature=abc&X-Amz-Credential=AKIAx&alt=sse")

    assert "Signature" not in shown and "AKIA" not in shown
    assert "abc" not in url and "AKIAx" not in url and "alt=sse" in url


def test_the_users_own_patterns_are_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text('redact = ["corp-[0-9]{6}"]\nallow_headers = ["x-team"]\n')

    redactor = Redactor.from_config()

    assert b"corp-123456" not in redactor.body(b"it is corp-123456.")
    assert redactor.headers((("x-team", "blue"),)) == (("x-team", "blue"),)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('redact = ["("]', "is no regular expression"),
        ("redact = 3", "write a list of strings"),
        ("=", "mend or remove it"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    settings: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text(settings)

    with pytest.raises(CassetteError, match=sentence):
        Redactor.from_config()


def test_a_request_with_another_key_in_its_body_still_matches(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    asked = b'{"messages":[{"role":"user","content":"my key is %s, use it"}]}'
    with Recorder(path) as recorder:
        recorder.write(round_trip(asked % SECRETS["openai"].encode()))

    other = asked % f"sk-{LONG[::-1]}".encode()

    assert Player(path).answer("POST", "/v1/chat/completions", (), other).index == 0


@pytest.mark.parametrize("gap", [0, 1, 40, 5000, 8150, 8192, 8230, 20_000])
def test_a_body_that_grows_is_cleaned_as_if_it_were_new(gap: int) -> None:
    """Only what is new is searched, and a secret on either edge of it is still found."""
    secret = SECRETS["openai"].encode()
    history = b"history " * 12_000 + b" " + secret + b" " + b"h" * gap
    tools = b" " + b"t" * gap + b" " + secret + b" " + b"tools " * 12_000
    redactor = Redactor(salt="s")
    bodies = [
        history + tools,
        history + b" new " + tools,
        history + secret[:20] + tools,
        history + b" " + secret + tools,
    ]

    for body in bodies:
        assert redactor.request_body(body) == Redactor(salt="s").body(body)


def test_a_key_that_is_completed_by_the_next_body_is_found() -> None:
    redactor = Redactor(salt="s")
    start, secret = b"x " * 50_000, SECRETS["anthropic"].encode()
    redactor.request_body(start + secret[:12])

    assert secret not in redactor.request_body(start + secret + b" more")
