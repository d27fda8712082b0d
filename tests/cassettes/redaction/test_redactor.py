"""No secret reaches the disk, wherever it sits."""

import base64
import gzip
import json
import pickle
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import round_trip
from hypothesis import given, settings
from hypothesis import strategies as st

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
    url = redactor.url("https://x.example/?X-Amz-Signature=sig-of-it&X-Amz-Credential=AKIAx&alt=sse")

    assert "Signature" not in shown and "AKIA" not in shown
    assert "sig-of-it" not in url and "AKIAx" not in url and "alt=sse" in url


def test_the_users_own_patterns_are_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text('redact = ["corp-[0-9]{6}"]\nallow_headers = ["x-team"]\n')

    redactor = Redactor.from_config()

    assert b"corp-123456" not in redactor.body(b"it is corp-123456.")
    assert redactor.headers((("x-team", "blue"),)) == (("x-team", "blue"),)


ANSWER = rb'{"arguments": "{\"passphrase\": \"pineapple\", \"password\": \"correct-horse\"}"}'


def test_a_value_that_is_kept_as_a_whole_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text('redact_keep = ["pine[a-z]+", "correct"]\n')

    clean = Redactor.from_config().body(ANSWER)

    assert b'passphrase\\": \\"pineapple\\"' in clean  # also in JSON within JSON
    assert b"correct-horse" not in clean
    assert b"correct-horse" in Redactor.from_config().keeping(["correct-horse"]).body(ANSWER)
    assert b"pineapple" in Redactor.from_config().keeping(["correct-horse"]).with_salt("s").body(ANSWER)
    assert b"pineapple" not in Redactor().body(ANSWER)


def test_the_users_own_search_counts_more_than_what_is_kept() -> None:
    keep = ["corp-1", "pineapple"]

    assert b"corp-1" not in Redactor(("corp-[0-9]",), keep=keep).body(b"it is corp-1.")
    assert b"pineapple" not in Redactor(function=lambda _: ["pineapple"], keep=keep).body(b"a pineapple")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('redact_keep = ["("]', "is not a valid regular expression.*; fix it where redact_keep is set"),
        ('redact = ["("]', "is not a valid regular expression"),
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
def test_a_secret_that_is_found_by_what_is_before_it_is_masked(name: str) -> None:
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


def test_a_key_beside_encoded_data_is_not_part_of_it() -> None:
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


def spelled(text: str) -> str:
    """The events of a stream that give a text in pieces of five letters."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    return "".join(f'data: {{"index":0,"text":{json.dumps(piece)}}}\n\n' for piece in pieces)


TWICE = {
    "a shape under a name": f'{{"anthropic_api_key": "{KEY}"}}',
    "the same in a form": f"anthropic_api_key={KEY}",
    "the same in JSON in JSON": json.dumps({"env": json.dumps({"OPENAI_API_KEY": f"sk-{LONG}"})}),
    "the same over the events of a stream": spelled(json.dumps({"ANTHROPIC_API_KEY": KEY})),
    "a prefix that looks like a key": f"Incorrect key: IQoJb3JpZ2lu{LONG * 8}.",
    "a URL that looks random": f"http://api.example.com/v1/files/sk-or-v1-{LONG}",
    "base64 around it": base64.b64encode(f"# settings\nGOOGLE_API_KEY=AIza{LONG[:35]}\n".encode()).decode(),
    "a private key in base64": base64.b64encode(f"# settings\n{PEM}\n".encode()).decode(),
    "JSON escapes": "".join(f"\\u{ord(letter):04x}" for letter in f"API_KEY=abc8Q~{LONG[:34]}"),
    "two that overlap": f'{{"password": "{KEY}{KEY}"}}',
}


@pytest.mark.parametrize("entropy", [False, True])
@pytest.mark.parametrize("form", TWICE)
def test_what_is_replaced_stays_as_it_is_under_any_salt(form: str, entropy: bool) -> None:
    body = TWICE[form].encode()
    once = Redactor(salt="s", entropy=entropy).answer(body, ())
    again = Redactor(salt="other", entropy=entropy)

    assert once != body
    assert Redactor(salt="s", entropy=entropy).answer(once, ()) == again.answer(once, ()) == again.body(once) == once
    assert again.url(once.decode()) == once.decode()


def test_a_text_that_was_replaced_is_not_found_again_by_the_search_of_the_user() -> None:
    seen: list[str] = []

    def find(text: str) -> list[str]:
        seen.append(text)
        return [word for word in text.split() if len(word) > 20]

    redactor = Redactor((r"(?<=corp: )\S+",), salt="s", function=find)
    once = redactor.body(b"corp: 4711-4711-4711-4711-4711 and abcdefghijklmnopqrstuvwxyz")

    assert once.count(b"REDACTED-") == 2
    assert redactor.with_salt("other").body(once) == once
    assert "REDACTED" not in seen[-1] and len(seen[-1]) == len(once)


def test_a_text_that_was_withheld_stays_withheld_as_it_is() -> None:
    def find(text: str) -> list[str]:
        raise ValueError(text)

    redactor = Redactor(salt="s", function=find)
    once = redactor.body(b"a text that could not be searched")

    assert redactor.with_salt("other").body(once) == once


@pytest.mark.parametrize(
    "beside", ["{mark} {secret}", "{mark}{secret}", '"{mark}","api_key":"{secret}"', "API_KEY={mark}\nAPI_KEY={secret}"]
)
def test_a_secret_beside_one_that_was_replaced_is_replaced(beside: str) -> None:
    redactor = Redactor(salt="s")
    mark = redactor.body(f"sk-{LONG}".encode()).decode()

    clean = redactor.body(beside.format(mark=mark, secret=KEY).encode()).decode()

    assert LONG not in clean and mark in clean and clean.count("REDACTED-") == 2


@pytest.mark.parametrize("settings", ["[tool]\nturntape = 3\n", "[tool.turntape]\nredact = 'x'\n"])
def test_settings_in_pyproject_that_cannot_be_used_are_named(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(settings)

    with pytest.raises(CassetteError, match="write a (table|list of strings)"):
        Redactor.from_config()


def everything() -> RoundTrip:
    """A round trip with a secret in every part."""
    said = f"the key is {KEY} ok"
    return RoundTrip(
        Request("POST", f"https://u:pass@a.example/?q={KEY}", (("authorization", f"Bearer {KEY}"),), said.encode()),
        Response(
            200,
            said,
            (("x-note", said),),
            said.encode(),
            (Chunk(len(said), 1),),
            trailers=(("x-end", said),),
        ),
        1.0,
        failure=Failure("cut", said),
        frames=(Frame("client", 1, said.encode(), True),),
        faults=(said,),
        extra={"a": said, "b": [said, 1, None], "c": {"d": (said, True)}},
    )


def test_every_part_of_a_round_trip_is_cleaned_and_nothing_else_changes() -> None:
    redactor = Redactor(salt="s")
    mark = redactor.body(KEY.encode()).decode()
    clean = f"the key is {mark} ok"

    trip = redactor.round_trip(everything())

    assert trip.request.url == f"https://a.example/?q={mark}"
    assert trip.request.headers == (("authorization", f"Bearer REDACTED-{redactor.fingerprint(KEY)}"),)
    assert trip.request.body == clean.encode()
    response = trip.response
    assert response is not None
    assert (response.reason, response.body, response.chunks) == (clean, clean.encode(), (Chunk(len(clean), 1),))
    assert (response.headers, response.trailers) == ((("x-note", clean),), (("x-end", clean),))
    assert trip.failure == Failure("cut", clean)
    assert trip.frames == (Frame("client", 1, clean.encode(), True),)
    assert trip.faults == (clean,)
    assert trip.extra == {"a": clean, "b": [clean, 1, None], "c": {"d": [clean, True]}}


def test_parts_that_are_missing_stay_missing() -> None:
    trip = RoundTrip(Request("GET", "https://a.example/x"), None, 1.0)

    assert Redactor().round_trip(trip) == trip


def test_a_redactor_that_is_switched_off_changes_nothing() -> None:
    redactor, trip = Redactor(enabled=False), everything()

    assert redactor.round_trip(trip) is trip
    assert redactor.headers(trip.request.headers) == trip.request.headers
    assert redactor.url(trip.request.url) == trip.request.url
    assert redactor.body(KEY.encode()) == KEY.encode()
    assert redactor.request_body(b"x " * 9000 + KEY.encode()).endswith(KEY.encode())


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("authorization", "Bearer a b", "Bearer REDACTED-@a b"),
        ("proxy-authorization", "Basic abc=", "Basic REDACTED-@abc="),
        ("x-my-auth", "Abcdefghij k", "Abcdefghij REDACTED-@k"),
        ("x-my-auth", "Abcdefghijk k", "REDACTED-@Abcdefghijk k"),
        ("x-my-auth", "B4sic k", "REDACTED-@B4sic k"),
        ("x-my-auth", "plain", "REDACTED-@plain"),
        ("x-other", "Bearer k", "REDACTED-@Bearer k"),
        ("authorization", "AWS4-HMAC-SHA256 Credential=a, Signature=b", "AWS4-HMAC-SHA256 REDACTED-@"),
        ("x-other", "AWS4-HMAC-SHA256 a", "REDACTED-@AWS4-HMAC-SHA256 a"),
        ("aws4-x", "one two", "one REDACTED-@one two"),
        ("my-aws4-", "one two", "REDACTED-@one two"),
        ("cookie", " a = 1; b=2", "a=REDACTED-@ a = 1"),
        ("set-cookie", "s=1; Path=/; HttpOnly", "s=REDACTED-@s=1"),
    ],
)
def test_a_credential_keeps_its_scheme_or_its_name(name: str, value: str, shown: str) -> None:
    """`@` is where the fingerprint of what follows is."""
    redactor = Redactor(salt="s")
    before, _, secret = shown.partition("@")

    assert redactor.headers(((name, value),)) == ((name, before + redactor.fingerprint(secret or value)),)


def test_a_fingerprint_is_the_same_for_text_and_for_its_bytes() -> None:
    redactor = Redactor(salt="s")

    assert redactor.fingerprint("caf\udce9") == redactor.fingerprint(b"caf\xe9") != redactor.fingerprint(b"cafe")
    assert redactor.fingerprint("café") == redactor.fingerprint("café".encode())
    assert len(redactor.fingerprint("x")) == 8


def test_text_that_is_not_utf8_is_kept_byte_for_byte() -> None:
    redactor = Redactor(salt="s", allow_headers=("x-a",))

    assert redactor.headers((("x-a", "caf\udce9"),)) == (("x-a", "caf\udce9"),)
    assert redactor.url("https://a.example/caf\udce9") == "https://a.example/caf\udce9"
    trip = RoundTrip(Request("GET", "https://a.example"), None, 1.0, faults=("caf\udce9",))
    assert redactor.round_trip(trip).faults == ("caf\udce9",)


def test_salts_are_random_and_long_enough() -> None:
    salts = {Redactor().salt for _ in range(20)}

    assert len(salts) == 20 and {len(salt) for salt in salts} == {16}
    assert Redactor(salt="").salt == ""


def test_another_salt_keeps_the_rules() -> None:
    redactor = Redactor(("corp-[0-9]+",), salt="a", allow_headers=("x-team",))

    other = redactor.with_salt("b")

    assert (redactor.salt, other.salt) == ("a", "b")
    assert other.fingerprint("x") == Redactor(salt="b").fingerprint("x") != redactor.fingerprint("x")
    assert b"corp-1" not in other.body(b"it is corp-123456")
    assert other.headers((("x-team", "blue"),)) == (("x-team", "blue"),)


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://user:pw@a.example/x", "https://a.example/x"),
        ("HTTPS://user@a.example", "HTTPS://a.example"),
        ("svn+ssh.2-x://u:p@a.example/", "svn+ssh.2-x://a.example/"),
        ("https://a.example/x@y", "https://a.example/x@y"),
        ("https://a.example/?to=me@a.example", "https://a.example/?to=me@a.example"),
        ("https://a.example/?key=", "https://a.example/?key="),
        ("https://a.example/?a=1&&b==2", "https://a.example/?a=1&&b==2"),
    ],
)
def test_a_url_loses_its_user_and_nothing_else(url: str, clean: str) -> None:
    assert Redactor().url(url) == clean


def test_a_value_that_is_percent_encoded_has_the_fingerprint_of_what_it_means() -> None:
    redactor = Redactor(salt="s")

    assert redactor.url("https://a/?key=a%2Fb") == f"https://a/?key=REDACTED-{redactor.fingerprint('a/b')}"


@pytest.mark.parametrize("letter", "abcdefghijklmnopqrstuvwxyzX")
def test_a_key_after_a_backslash_is_found_only_after_the_escapes_of_json(letter: str) -> None:
    """`\\n` is a line's end, and `\\s` is not an escape: the letter belongs to the word."""
    clean = Redactor().body(f"\\{letter}{KEY}".encode())

    assert (b"REDACTED" in clean) == (letter in "nrtbf")
    assert b"REDACTED" not in Redactor().body(f"x{letter}{KEY}".encode())


def test_a_key_right_after_an_escape_at_the_start_is_found() -> None:
    assert Redactor().body(f"\\n{KEY}".encode()).startswith(b"\\nsk-proj-REDACTED-")
    for text in (f"n{KEY}", f"n{KEY} \\"):
        assert Redactor().body(text.encode()) == text.encode()


def test_patterns_that_overlap_mask_all_that_they_match() -> None:
    redactor = Redactor(("abcdefgh", "efghijkl", "z*", "cd"), salt="s")

    clean = redactor.body(b"-abcdefghijkl-")

    assert clean == b"-REDACTED****-"


def test_an_overlap_at_the_first_byte_is_masked_too() -> None:
    redactor = Redactor(("cdefghij", "abcd"), salt="s")

    assert redactor.body(b"abcdefghij-") == b"REDA******-"
    assert Redactor(("abcdefgh", "cd", "efghijkl"), salt="s").body(b"abcdefghijkl") == b"REDACTED****"


def test_what_follows_an_overlap_is_masked_too() -> None:
    redactor = Redactor(("abcdefgh", "efghijkl", "mnopqrst"), salt="s")

    assert redactor.body(b"-abcdefghijkl-mnopqrst-") == b"-REDACTED****-REDACTED-"


@pytest.mark.parametrize("size", [4, 8, 12, 16, 17, 20, 40])
def test_a_mask_is_as_long_as_the_secret(size: int) -> None:
    redactor = Redactor(("q+",), salt="s")
    mark = f"REDACTED-{redactor.fingerprint('q' * size)}" if size >= 17 else "REDACTED"

    clean = redactor.body(b"<" + b"q" * size + b">").decode()

    assert clean == f"<{mark.ljust(size, '*')[:size]}>"


@pytest.mark.parametrize("size", [33, 34])
def test_a_prefix_is_kept_where_the_mark_fits_behind_it(size: int) -> None:
    redactor = Redactor(salt="s")
    secret = "sk-svcacct-" + "q" * (size - 11)
    short = "AKIA" + "Q" * 16

    assert redactor.body(secret.encode()).startswith(b"sk-svcacct-REDACTED-")
    assert redactor.body(short.encode()) == f"REDACTED-{redactor.fingerprint(short)}***".encode()


def test_a_prefix_is_kept_where_the_mark_just_fits() -> None:
    redactor = Redactor(salt="s")
    fits, short = "sk_live_" + "q" * 17, "sk_live_" + "q" * 16

    assert redactor.body(fits.encode()) == f"sk_live_REDACTED-{redactor.fingerprint(fits)}".encode()
    assert redactor.body(short.encode()) == f"REDACTED-{redactor.fingerprint(short)}".encode().ljust(24, b"*")


def test_a_fingerprint_and_what_fills_up_behind_it_are_one_for_all_keys() -> None:
    one, other = Redactor(salt="a"), Redactor(salt="b")
    short, long = f"a {KEY} b".encode(), f"a {KEY}{LONG} b".encode()

    assert one.normalise(one.body(short)) == other.normalise(other.body(long)) == b"a sk-proj-REDACTED b"
    assert one.normalise(b"REDACTED and nothing else") == b"REDACTED and nothing else"


def aws_frame(payload: bytes) -> bytes:
    from proxy_frames import event_stream

    return event_stream(payload)


@pytest.mark.parametrize(
    ("name", "kind", "sealed"),
    [
        ("Content-Type", "application/vnd.amazon.eventstream", True),
        ("content-type", "application/json", False),
        ("x-note", "application/vnd.amazon.eventstream", False),
    ],
)
def test_only_the_frames_of_an_event_stream_get_new_checksums(name: str, kind: str, sealed: bool) -> None:
    body = aws_frame(text("openai").encode())
    headers = (("x-first", "1"), (name, kind), ("x-last", "1"))
    trip = RoundTrip(Request("POST", "https://a.example"), Response(200, "", headers, body), 1.0)

    clean = Redactor(salt="s").round_trip(trip).response

    assert clean is not None and len(clean.body) == len(body)
    assert (clean.body[-4:] != body[-4:]) == sealed
    assert clean.body[:-4] == Redactor(salt="s").body(body)[:-4]


@pytest.mark.parametrize("tail", [b"", b"\0" * 15, b"\0\0\0\x0f" + b"\0" * 12, b"\0\0\xff\xff" + b"\0" * 20])
def test_what_follows_the_last_whole_frame_is_kept(tail: bytes) -> None:
    empty = (16).to_bytes(4, "big") + b"\0" * 8
    empty += zlib.crc32(empty).to_bytes(4, "big")
    frame = aws_frame(text("openai").encode())
    frames = empty + frame + empty
    headers = (("content-type", "application/vnd.amazon.eventstream"),)
    trip = RoundTrip(Request("POST", "https://a.example"), Response(200, "", headers, frames + tail), 1.0)

    clean = Redactor(salt="s").round_trip(trip).response

    assert clean is not None and clean.body.endswith(empty + tail) and clean.body.startswith(empty)
    assert len(clean.body) == len(frames + tail) and b"REDACTED" in clean.body
    cleaned = clean.body[len(empty) : len(empty + frame)]
    assert cleaned[-4:] == zlib.crc32(cleaned[:-4]).to_bytes(4, "big")


BIG = 1 << 14


def big(size: int, letter: bytes = b"h") -> bytes:
    return (letter * 7 + b" ") * (size // 8)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes of each large body were searched."""
    sizes: list[int] = []
    clean = Redactor._cleaned

    def counted(self: Redactor, body: bytes) -> bytes:
        sizes.append(len(body))
        return clean(self, body)

    monkeypatch.setattr(Redactor, "_cleaned", counted)
    return sizes


def test_of_a_body_that_begins_as_an_earlier_one_only_the_end_is_searched(searched: list[int]) -> None:
    redactor = Redactor(salt="s")
    redactor.request_body(big(40 * BIG))
    redactor.request_body(big(BIG, b"o"))  # nothing in common
    redactor.request_body(big(40 * BIG) + b" more")

    assert searched == [40 * BIG, BIG, 2 * 8192 + 5]


def test_of_a_body_that_ends_as_the_newest_one_too_only_the_middle_is_searched(searched: list[int]) -> None:
    redactor = Redactor(salt="s")
    start = big(20 * BIG)
    for letter in (b"x", b"y", b"z"):
        redactor.request_body(start + letter + big(20 * BIG, letter))
    redactor.request_body(start + b" new " + big(20 * BIG, b"z"))

    assert searched[-1] == 4 * 8192 + 5


def test_between_two_messages_only_the_new_one_is_searched(searched: list[int]) -> None:
    redactor = Redactor(salt="s")
    history = [{"role": "user", "content": f"{number} {'word ' * 100}"} for number in range(20)]
    tools = [{"name": f"tool-{number}", "description": "what it does " * 100} for number in range(20)]
    more = [{"role": "user", "content": "new"}, history[0]]
    sent = [
        json.dumps({"messages": m, "tools": tools}, separators=(",", ":")).encode() for m in (history, history + more)
    ]
    for body in sent:
        redactor.request_body(body)

    assert searched[0] == len(sent[0])
    assert searched[1] < 5_000 < len(sent[1]) - len(sent[0]) + 5_000


PARTS = [
    *(text(name) for name in SECRETS),
    *(SECRETS[name][:20] for name in ("openai-project", "github-fine", "jwt")),
    *(SECRETS[name][20:] for name in ("openai-project", "github-fine", "jwt")),
    'curl https://api.example -d \'[{"a":"b"},{"c":"d"}]\' -u ana:pa55w0rd-of-ana',
    '{"name": "API_KEY", "value": "Zx81mQp0aLw9sKd7fGh2jTy4"}',
    "Set-Cookie: session=Zx81mQp0aLw9sKd7fGh2; other=aB3dE5gH7jK9mN1pQ3sT",
    "word " * 300,
    "api_key: ",
    '"},{"',
    "x",
]
CONTENT = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(" ".join)


@given(
    contents=st.lists(CONTENT, min_size=1, max_size=5),
    tools=st.lists(CONTENT, max_size=4),
    part=st.sampled_from(PARTS),
    place=st.floats(0, 1),
    removed=st.integers(0, 60),
    space=st.sampled_from(["", " "]),
)
@settings(max_examples=600)
def test_a_changed_history_is_redacted_as_if_it_were_the_first(
    contents: list[str], tools: list[str], part: str, place: float, removed: int, space: str
) -> None:
    """A part of a secret is removed, or another part is put into the body, anywhere in it."""
    messages = [{"role": "user", "content": one} for one in ["word " * 500, *contents]]
    fields = {"messages": messages, "tools": [{"description": one} for one in tools]}
    first = json.dumps(fields, separators=(f",{space}", f":{space}")).encode()
    at = 2600 + round(place * (len(first) - 2600))
    second = first[:at] + json.dumps(part)[1:-1].encode() + first[at + removed :]
    for earlier, later in ((first, second), (second, first)):
        redactor = Redactor(salt="s")
        redactor.request_body(earlier)

        assert redactor.request_body(later) == Redactor(salt="s").body(later)


@pytest.mark.parametrize("cut", [0, 1, 20, 40, 60])
def test_a_secret_that_ends_where_two_bodies_begin_to_differ_is_found(cut: int) -> None:
    """The earlier body has its beginning and continues differently."""
    redactor = Redactor(salt="s")
    start = big(3 * BIG)
    redactor.request_body(start + KEY[:cut].encode() + b" else")

    body = start + KEY.encode() + b" more"

    assert redactor.request_body(body) == Redactor(salt="s").body(body)


@pytest.mark.parametrize("cut", [0, 1, 20, 40, 60])
def test_a_secret_that_begins_where_two_bodies_meet_again_is_found(cut: int) -> None:
    redactor = Redactor(salt="s")
    start, end = big(3 * BIG), big(3 * BIG, b"e")
    redactor.request_body(start + b" else " + KEY[cut:].encode() + end)

    body = start + b" new " + KEY.encode() + end

    assert redactor.request_body(body) == Redactor(salt="s").body(body)


@pytest.mark.parametrize("place", [0, 100, 8_000, 8_192, 8_193, 16_000, 16_384, 20_000])
def test_an_earlier_secret_stays_masked_wherever_it_is(place: int) -> None:
    redactor = Redactor(salt="s")
    start = big(3 * BIG)
    body = start[:place] + b" " + KEY.encode() + b" " + start[place:]
    redactor.request_body(body)

    assert redactor.request_body(body + b" more") == Redactor(salt="s").body(body + b" more")
    assert redactor.request_body(body[: 2 * BIG]) == Redactor(salt="s").body(body[: 2 * BIG])


def test_the_earlier_body_that_shares_most_is_taken() -> None:
    redactor = Redactor(salt="s")
    start, key = big(6 * BIG), KEY.encode()
    body = start + key + start
    for earlier in (body[: 3 * BIG] + b" other", body[:-BIG] + b" near", body[: 2 * BIG] + b" less"):
        redactor.request_body(earlier)

    assert redactor._earlier.cleaned_after(body, lambda part, known: redactor._cleaned(part)) == Redactor(
        salt="s"
    ).body(body)
    assert redactor.request_body(b"") == b""


@pytest.mark.parametrize("size", [BIG - 1, BIG, BIG + 1, 2 * BIG])
def test_a_secret_anywhere_in_the_first_shared_bytes_is_masked(size: int) -> None:
    start = KEY.encode() + b" " + big(BIG)[: size - len(KEY) - 1 - len(KEY)] + KEY.encode()
    redactor = Redactor(salt="s")
    redactor.request_body(start + big(BIG))

    body = start + b" new " + KEY.encode()

    assert redactor.request_body(body) == Redactor(salt="s").body(body)


def test_a_body_that_ends_earlier_is_cleaned_whole() -> None:
    """Its end is the same as its beginning, and must not be counted twice."""
    redactor = Redactor(salt="s")
    redactor.request_body(big(40 * BIG))

    assert redactor.request_body(big(20 * BIG)) == big(20 * BIG)


def test_only_the_last_four_large_bodies_are_kept_in_memory() -> None:
    for redactor in (Redactor(salt="s"), Redactor(salt="s").with_salt("t")):
        for letter in (b"a", b"b", b"c", b"d", b"e", b"f"):
            redactor.request_body(big(BIG, letter))

        assert sorted(raw[:1] for raw, *_ in redactor._earlier._recent) == [b"c", b"d", b"e", b"f"]


def test_another_salt_does_not_take_fingerprints_from_the_first() -> None:
    first = Redactor(salt="a")
    body = KEY.encode() + b" " + big(2 * BIG)
    first.request_body(body)

    assert first.with_salt("b").request_body(body) == Redactor(salt="b").body(body)


def test_the_users_own_patterns_are_searched_in_all_of_a_large_body() -> None:
    """Such a secret may be longer than any that is known."""
    redactor = Redactor(("begin.*end",), salt="s")
    start = b"begin " + b"x" * 3 * BIG
    redactor.request_body(start)

    assert redactor.request_body(start + b" end").startswith(b"REDACTED")


def test_encoded_data_needs_64_bytes_on_both_sides() -> None:
    data = noise(64, urlsafe=False)[:64]
    key = f"/AIza{LONG[:35]}".encode()

    def left(before: bytes, after: bytes) -> bool:
        body = b'"' + before + key + after + b'"'
        return Redactor().body(body) == body

    assert left(data[1:], b"/" + data)  # with the slash before the key there are 64
    assert not left(data[2:], b"/" + data)
    assert not left(data, b"/" + data[2:])
    assert left(data, b"/" + data[1:])
    assert not left(data[:9] + b"----" + data[13:], b"/" + data)


def test_a_match_that_is_longer_than_any_key_is_encoded_data() -> None:
    before = noise(64, urlsafe=True)[:63] + b"-"

    def left(size: int, ruler: bytes = b"") -> bool:
        body = before + b"sk-proj-" + (b"aZ09b_" * 200)[: size - 8 - len(ruler)] + ruler + b" "
        return Redactor().body(body) == body

    assert left(401) and not left(400)
    assert not left(401, b"----")


def test_a_secret_that_is_known_by_its_context_is_found_beside_encoded_data() -> None:
    data = noise(64, urlsafe=False)[:64]
    body = data + b"ws_secret_access_key=" + AWS.encode() + b"=" + data

    assert AWS.encode() not in Redactor().body(body)


def test_a_credential_of_an_answer_is_replaced() -> None:
    shown = Redactor().headers((("WWW-Authenticate", "plain"), ("x-note", "plain")), response=True)

    assert shown[0][1].startswith("REDACTED-") and shown[1] == ("x-note", "plain")


def test_the_id_of_an_mcp_session_is_a_fingerprint_that_joins_both_directions() -> None:
    redactor = Redactor(salt="s")
    asked = (("mcp-session-id", "abc"), ("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/call"))
    more = (("Mcp-Name", "add"), ("Mcp-Param-City", "Rome"), ("Mcp-Param-Api-Key", "x"), ("Last-Event-ID", "7"))

    shown = dict(redactor.headers((*asked, *more)))
    ((_, answered),) = redactor.headers((("Mcp-Session-Id", "abc"),), response=True)

    assert shown["mcp-session-id"] == answered == f"REDACTED-{redactor.fingerprint('abc')}"
    assert shown["Mcp-Param-Api-Key"].startswith("REDACTED-")
    assert (shown["Mcp-Name"], shown["Mcp-Param-City"], shown["Last-Event-ID"]) == ("add", "Rome", "7")
    assert (shown["MCP-Protocol-Version"], shown["Mcp-Method"]) == ("2025-11-25", "tools/call")


def test_a_key_that_came_as_the_name_of_a_field_is_masked() -> None:
    key = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
    longest = "anthropic-ratelimit-input-tokens-remaining"
    redactor = Redactor(salt="s")

    for response in (True, False):
        (name, _), (known, _) = redactor.headers(((key, "1"), (longest, "2")), response)
        assert "abcDEF" not in name and "REDACTED-" in name and len(name) == len(key)
        assert known == longest


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--api-key", "pineapple", "run"], ["--api-key", "SECRET", "run"]),
        (["--api-key=pineapple", "run"], ["--api-key=SECRET", "run"]),
        (["DB_PASSWORD=pineapple", "run"], ["DB_PASSWORD=SECRET", "run"]),
        (["--api-key", "--verbose", "run"], ["--api-key", "--verbose", "run"]),
        (["--api-key=", "run"], ["--api-key=", "run"]),
        (["--city=Rome", "--city", "Rome"], ["--city=Rome", "--city", "Rome"]),
        (["set", "password", "run"], ["set", "password", "run"]),
        (["-x", f"key is sk-{LONG}"], ["-x", f"key is sk-{LONG}"]),
    ],
)
def test_a_command_line_loses_the_values_of_credentials_and_nothing_else(words: list[str], shown: list[str]) -> None:
    redactor = Redactor(salt="s")
    mark = f"REDACTED-{redactor.fingerprint('pineapple')}"

    expected = tuple(redactor.body(word.replace("SECRET", mark).encode()).decode() for word in shown)
    clean = redactor.command(words)

    assert clean == expected
    assert not any("pineapple" in word or LONG in word for word in clean)
    assert Redactor(enabled=False).command(words) == tuple(words)


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: gzip.compress(gzip.compress(data))])
def test_a_body_that_is_still_packed_is_replaced_whole_if_a_secret_is_in_it(pack: Callable[[bytes], bytes]) -> None:
    secret, plain = pack(f"the key is sk-{LONG}".encode()), pack(b"the key is under the mat")

    clean = Redactor(salt="s").body(secret)

    assert clean.startswith(b"REDACTED-") and len(clean) == len(secret)
    assert Redactor(salt="s").body(plain) == plain


def test_a_body_whose_encoding_was_not_undone_is_replaced_whole_if_a_secret_is_in_it() -> None:
    """Raw deflate has no first bytes by which it could be known: the header names it."""
    named = (("Content-Encoding", "deflate"),)
    for text, kept in ((f"the key is sk-{LONG}", False), ("the key is under the mat", True)):
        packed = zlib.compress(text.encode())
        request = Request("POST", "https://a.example/v1", named, packed)

        clean = Redactor(salt="s").round_trip(RoundTrip(request, Response(200, "OK", named, packed), 1.0))

        assert clean.response is not None
        for body in (clean.request.body, clean.response.body):
            assert len(body) == len(packed)
            assert (body == packed) is kept and body.startswith(b"REDACTED-") is not kept


def test_a_redactor_is_sent_to_another_process_without_the_bodies_that_it_remembers() -> None:
    redactor = Redactor(("pineapple",), salt="s")
    alone = len(pickle.dumps(redactor))
    body = json.dumps({"key": f"sk-{LONG}", "text": "word " * 40_000}).encode()
    redactor.request_body(body)
    redactor.url("https://a.example/")

    sent = pickle.dumps(redactor)
    other = pickle.loads(sent)

    assert len(sent) == alone
    assert other.__dict__.keys() == redactor.__dict__.keys()
    assert other.request_body(body) == redactor.body(body) != body
    assert other.body(b"a pineapple") == redactor.body(b"a pineapple")
