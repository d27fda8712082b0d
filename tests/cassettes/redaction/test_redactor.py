"""No secret reaches the disk, wherever it sits."""

import base64
import json
import random
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
        ("=", "correct or remove the file"),
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


KEY = f"sk-proj-{LONG}"
HIDDEN = {
    "after a Chinese character, as JSON escapes it": json.dumps({"c": f"密钥是{KEY}"}),
    "after a sign that HTML-safe encoders escape": '{"c":"\\u003e' + KEY + '"}',
    "after an escape in JSON within JSON": json.dumps({"c": json.dumps({"c": f"é{KEY}"})}),
    "after a line's end": json.dumps({"c": f"\n{KEY}"}),
    "after a line's end, two levels deep": json.dumps({"c": json.dumps({"c": f"\n{KEY}\t"})}),
    "after a terminal's colour": json.dumps({"c": f"\x1b[32m{KEY}\x1b[0m"}),
    "after a colour as it came": f"\x1b[1;38;5;196m{KEY}",
    "after a colour as source code writes it": json.dumps({"c": f"\\033[0m{KEY}"}),
    "after a percent-encoded quote": f"q=%22{KEY}%22",
    "after a ruler": f"{'=' * 80}{KEY}{'=' * 80}",
    "after a long path": f"/{'directory/' * 12}{KEY}",
    "in a list without spaces": f"{KEY},{KEY},{KEY}",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_key_is_found_whatever_an_encoder_puts_before_it(name: str) -> None:
    text = HIDDEN[name]

    clean = Redactor().body(text.encode())

    assert LONG.encode() not in clean and b"REDACTED-" in clean
    assert len(clean) == len(text.encode())


PEM_LINES = [base64.b64encode(bytes(range(n, n + 48))).decode() for n in range(24)]
PEM = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *PEM_LINES, "-----END RSA PRIVATE KEY-----", ""])
PRIVATE_KEYS = {
    "as it is": PEM,
    "in JSON": json.dumps({"c": PEM}),
    "in JSON within JSON": json.dumps({"c": json.dumps({"c": PEM})}),
    "with a tool's line numbers": json.dumps(
        {"c": "\n".join(f"{n:6}\u2192{line}" for n, line in enumerate(PEM.splitlines(), 1))}, ensure_ascii=False
    ),
    "with line numbers, escaped": json.dumps(
        {"c": "\n".join(f"{n:6}\u2192{line}" for n, line in enumerate(PEM.splitlines(), 1))}
    ),
    "with `cat -n`": json.dumps({"c": "\n".join(f"{n:6}\t{line}" for n, line in enumerate(PEM.splitlines(), 1))}),
    "with Windows line ends": json.dumps({"c": PEM.replace("\n", "\r\n")}),
    "as a diff": json.dumps({"c": "\n".join(f"+{line}" for line in PEM.splitlines())}),
    "encrypted": json.dumps(
        {"c": PEM.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1)}
    ),
    "cut before its end": json.dumps({"c": PEM[:700]}),
    "of OpenSSH": json.dumps({"c": PEM.replace("RSA PRIVATE", "OPENSSH PRIVATE")}),
}


@pytest.mark.parametrize("name", PRIVATE_KEYS)
def test_no_line_of_a_private_key_is_left(name: str) -> None:
    text = PRIVATE_KEYS[name]

    clean = Redactor().body(text.encode())

    assert [line for line in PEM_LINES if line.encode() in clean] == []
    assert b"REDACTED-" in clean and len(clean) == len(text.encode())
    if text.startswith("{"):
        json.loads(clean)


def test_a_public_key_and_talk_of_private_keys_stay() -> None:
    for text in (
        PEM.replace("RSA PRIVATE", "PUBLIC"),
        "write it between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----, please",
    ):
        assert Redactor().body(text.encode()) == text.encode()


AWS = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzTOPSECRE"
NAMED = {
    "redis without a user": ("redis://:@@@cache:6379/0", "s3cr3tpassw0rd"),
    "a database": ("postgresql+psycopg://app:@@@db:5432/x", "s3cr3tpassw0rd"),
    "AWS SecretAccessKey": (json.dumps({"Credentials": {"SecretAccessKey": "@@"}}), AWS),
    "secretAccessKey": ("secretAccessKey: '@@'", AWS),
    "aws_secret_access_key in JSON within JSON": (json.dumps({"c": json.dumps({"aws_secret_access_key": "@@"})}), AWS),
    "AWS_SECRET_ACCESS_KEY": ("export AWS_SECRET_ACCESS_KEY=@@", AWS),
}
"""What is written, with `@@` for the secret, and the secret."""


@pytest.mark.parametrize("name", NAMED)
def test_a_secret_that_is_known_by_what_stands_before_it_is_masked(name: str) -> None:
    form, secret = NAMED[name]
    said = form.replace("@@", secret, 1)

    assert secret in said and secret.encode() not in Redactor().body(said.encode())


@pytest.mark.parametrize("prefix", ["xoxe-", "xoxr-", "xoxc-", "xoxd-", "sk-None-", "sk-svcacct-", "sk-lf-"])
def test_rarer_prefixes_are_known(prefix: str) -> None:
    assert LONG.encode() not in Redactor().body(f'{{"c":"{prefix}{LONG}"}}'.encode())


def noise(size: int, urlsafe: bool) -> bytes:
    data = random.Random(size).randbytes(size)
    return base64.urlsafe_b64encode(data) if urlsafe else base64.b64encode(data)


COINCIDENCES = [f"/AIza{LONG[:35]}", f"-sk-{LONG}", f"-sk-proj-{LONG}", f"/sk-ant-{LONG}/", f"+AKIA{'A7' * 8}/"]


@pytest.mark.parametrize("coincidence", COINCIDENCES)
@pytest.mark.parametrize(
    "form",
    [
        '{"type":"image","source":{"data":"%s"}}',
        '{"type":"reasoning","encrypted_content":"%s"}',
        '{"signature":"%s"}',
        '{"url":"data:image/png;base64,%s"}',
    ],
)
def test_what_looks_like_a_key_inside_encoded_data_is_left(form: str, coincidence: str) -> None:
    """Clients must echo these, and a picture would be broken."""
    urlsafe = "encrypted" in form
    body = (form % (noise(3000, urlsafe).decode() + coincidence + noise(3000, urlsafe).decode())).encode()

    assert Redactor().body(body) == body


def test_white_and_black_pictures_are_left_too() -> None:
    for filler in ("A", "/"):
        body = f'{{"data":"{filler * 3000}/AIza{LONG[:35]}{filler * 3000}"}}'.encode()

        assert Redactor().body(body) == body


def test_a_key_beside_encoded_data_is_no_part_of_it() -> None:
    """A base64 image on one line, the key on the next."""
    image = noise(3000, urlsafe=False).decode()

    for text in (
        json.dumps({"c": f"{image}\n{KEY}\n{image}"}),
        json.dumps([image, KEY, image]),
        f"{image} {KEY} {image}",
    ):
        assert LONG.encode() not in Redactor().body(text.encode())


def test_headers_whose_names_say_credential_are_masked_in_known_families() -> None:
    headers = (
        ("X-Password", "hunter two words"),
        ("x-amzn-oidc-data", "opaque-token-123"),
        ("openai-api-key", "plainkeywithoutshape"),
        ("anthropic-auth-token", "plain"),
        ("openai-organization", "org-1"),
        ("anthropic-version", "2023-06-01"),
        ("helicone-auth", "Bearer plain"),
    )

    kept = dict(Redactor(salt="s").headers(headers))

    assert kept["openai-organization"] == "org-1" and kept["anthropic-version"] == "2023-06-01"
    for name in ("X-Password", "x-amzn-oidc-data", "openai-api-key", "anthropic-auth-token"):
        assert kept[name].startswith("REDACTED-") and " " not in kept[name]
    assert kept["helicone-auth"].startswith("Bearer REDACTED-")


def test_a_url_is_cleaned_in_its_percent_encoded_form() -> None:
    url = Redactor().url(f"https://a.example/x?q=%22{KEY}%22&next=https%3A%2F%2Fb.example%2F&api%5Fkey=plain")

    assert LONG not in url and "plain" not in url
    assert url.endswith(url[url.index("&api%5Fkey=REDACTED-") :]) and "next=https%3A%2F%2Fb.example%2F" in url


def test_cleaning_twice_changes_nothing_more() -> None:
    """A recording that is imported or appended keeps its fingerprints."""
    redactor = Redactor(salt="s")
    texts = [*HIDDEN.values(), *PRIVATE_KEYS.values(), *(text(name) for name in SECRETS)]

    for once in [redactor.body(said.encode()) for said in texts]:
        assert redactor.body(once) == once


@pytest.mark.parametrize("settings", ["[tool]\nturntape = 3\n", "[tool.turntape]\nredact = 'x'\n"])
def test_settings_in_pyproject_that_cannot_be_used_are_named(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(settings)

    with pytest.raises(CassetteError, match="write a (table|list of strings)"):
        Redactor.from_config()
