"""Images that a client sends as text or under the name of another format, in every API."""

import pytest
from conversations import HELLO, chat, said, user
from dialogues import APIS, asks, calls, gives, says
from judged import OLLAMA, anthropic, at_host, gemini, ids, judged, lines, only, responses, spoke, trip, turn, words

from turntape.cassettes.tape.model import RoundTrip

PNG = "iVBORw0KGgo" + "A" * 1200
AS_TEXT, WRONG, DAMAGED = "client-media-as-text", "client-media-type-wrong", "client-media-damaged"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize("api", APIS)
def test_a_result_with_an_image_in_base64_is_reported_once(api: str) -> None:
    build, call = APIS[api], calls("tape")
    history = [asks("look"), call, gives(f"tape.png\n<img:data:image/png;base64,{PNG}>")]
    trips = [
        build(history[:1], call, 0),
        build(history, says("Done."), 1),
        build([*history, says("Done."), asks("And now?")], says("No."), 2),
    ]
    one = only(AS_TEXT, *trips)

    assert (one.at, one.layer, one.severity) == (1, "client", "warning")
    assert "image/png as 1,211 characters of base64" in one.message


@pytest.mark.parametrize("text", ["/9j/" + "A" * 1200, f'{{"type":"image","data":"{PNG}"}}', "JVBERi0" + "x" * 1200])
def test_a_message_of_the_user_may_be_a_file(text: str) -> None:
    assert AS_TEXT in ids(chat([user(f"What is it? {text}")], said("A tape.")))
    assert AS_TEXT not in ids(chat([user(f"Decode the base64: {text}")], said("A tape.")))


def test_base64_that_does_not_begin_as_a_file_does_not_count() -> None:
    assert AS_TEXT not in ids(chat([user("What is it? " + "A" * 2000)], said("A key.")))
    assert AS_TEXT not in ids(chat([user("What is it? AAAA/9j/" + "A" * 2000)], said("A key.")))


@pytest.mark.parametrize(
    ("part", "real"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,/9j/AAAA"}}, "image/jpeg"),
        ({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/AAAA"}}, None),
        ({"type": "image_url", "image_url": {"url": "data:image/jpg;base64,/9j/AAAA"}}, None),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAABBBB"}}, None),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": PNG}}, "image/png"),
        ({"image": {"format": "jpeg", "source": {"bytes": PNG}}}, "image/png"),
        ({"image": {"format": "png", "source": {"bytes": PNG}}}, None),
        ({"inlineData": {"mimeType": "image/webp", "data": PNG}}, "image/png"),
        ({"inlineData": {"mimeType": "application/octet-stream", "data": PNG}}, None),
        ({"document": {"format": "pdf", "source": {"bytes": "JVBERi0xLjQ"}}}, None),
        ({"input_audio": {"format": "wav", "data": "UklGRiQAAABXQVZF"}}, None),
    ],
)
def test_the_bytes_of_an_image_say_its_format(part: dict[str, object], real: str | None) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "this"}, {"type": "image_url", "image": part}]}
    found = [one.message for one in judged(chat([HELLO, message], said("A tape."))) if one.id == WRONG]

    assert [text.rpartition(" ")[2] for text in found] == ([real] if real else [])


def test_an_image_under_the_name_of_another_format_is_an_info_where_it_is_answered() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,/9j/AAAA"}}
    trips = [chat([HELLO, {"role": "user", "content": [{"type": "text", "text": "this"}, image]}], said("A tape."))]

    assert only(WRONG, *trips).severity == "info"


def in_chat(kind: str, data: str) -> RoundTrip:
    url = {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
    return chat([{"role": "user", "content": [{"type": "text", "text": "this"}, url]}], said("A tape."))


def in_anthropic(kind: str, data: str) -> RoundTrip:
    image = {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
    return anthropic([{"role": "user", "content": [image]}], [words("A tape.")])


def in_gemini(kind: str, data: str) -> RoundTrip:
    return gemini([turn("user", {"inlineData": {"mimeType": kind, "data": data}})], [{"text": "A tape."}])


def in_responses(kind: str, data: str) -> RoundTrip:
    image = {"type": "input_image", "image_url": f"data:{kind};base64,{data}"}
    return responses([{"role": "user", "content": [image]}], [spoke(words("A tape."))])


SHOWN = {"chat": in_chat, "anthropic": in_anthropic, "gemini": in_gemini, "responses": in_responses}
URL = "data:image/png;base64,"


def shown(api: str, data: str, kind: str = "image/png") -> RoundTrip:
    return SHOWN[api](kind, data)


@pytest.mark.parametrize("api", sorted(SHOWN))
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (PIXEL[:60], "ends in the middle of the file, after 60 characters of base64"),
        (PIXEL[:61], "has 61 characters of base64, which no number of bytes gives: it is cut"),
        (PIXEL.replace("R42m", "R4*m"), "holds characters that base64 does not have"),
        (f"{URL}{PIXEL}", f"holds a data URL where its base64 should be: '{URL}{PIXEL[:17]}…'"),
        (f"/9j/4AAQSkZJRg{'A' * 60}", "ends in the middle of the file, after 74 characters of base64"),
    ],
)  # fmt: skip
def test_an_image_that_nobody_can_decode(api: str, data: str, what: str) -> None:
    one = only(DAMAGED, shown(api, data, "image/jpeg" if data.startswith("/9j") else "image/png"))

    assert (one.layer, one.severity, one.tier) == ("client", "warning", "P")
    assert one.message.endswith(f") {what}")


@pytest.mark.parametrize("api", sorted(SHOWN))
@pytest.mark.parametrize(
    "data", [PIXEL, PIXEL.rstrip("="), f"{PIXEL[:40]}\n{PIXEL[40:]}", PNG, "AAAA", "[image]", PIXEL.replace("+", "-")]
)
def test_a_whole_image_and_what_is_none_are_silent(api: str, data: str) -> None:
    assert DAMAGED not in ids(shown(api, data))


UNREACHED = "client-media-unsupported"


def linked(address: str) -> dict[str, RoundTrip]:
    """A message with an image at this address."""
    image = {"type": "image", "source": {"type": "url", "url": address}}
    part = {"type": "input_image", "image_url": address}
    url = {"type": "image_url", "image_url": {"url": address}}
    return {
        "chat": chat([{"role": "user", "content": [url]}], said("A tape.")),
        "anthropic": anthropic([{"role": "user", "content": [image]}], [words("A tape.")]),
        "gemini": gemini([turn("user", {"fileData": {"fileUri": address}})], [{"text": "A tape."}]),
        "responses": responses([{"role": "user", "content": [part]}], [spoke(words("A tape."))]),
    }


@pytest.mark.parametrize("api", sorted(linked("")))
@pytest.mark.parametrize(
    "address",
    ["file:///home/me/tape.png", "http://localhost:8000/tape.png", "http://127.0.0.1/a.png", "https://192.168.1.20:8443/a.png",
     "http://[::1]:80/a.png", "http://nas.local/a.png", "FILE:///a.png"],
)  # fmt: skip
def test_an_image_at_an_address_that_the_api_cannot_reach(api: str, address: str) -> None:
    one = only(UNREACHED, linked(address)[api])

    assert (one.layer, one.severity) == ("client", "warning")
    assert one.message == f"an image or a file is at {address!r}, which the API cannot reach"


@pytest.mark.parametrize("api", sorted(linked("")))
@pytest.mark.parametrize(
    "address",
    ["https://example.com/localhost.png", "https://8.8.8.8/a.png", "gs://bucket/a.png", "data:image/png;base64,AAAA"],
)
def test_an_image_at_a_public_address_is_silent(api: str, address: str) -> None:
    assert UNREACHED not in ids(linked(address)[api])


@pytest.mark.parametrize("host", ["http://127.0.0.1:8080", "http://10.1.2.3:8000", "http://gpu.local"])
def test_a_server_in_the_same_network_may_reach_it(host: str) -> None:
    one = linked("http://127.0.0.1/a.png")["chat"]

    assert UNREACHED not in ids(at_host(one, f"{host}/v1/chat/completions"))


def test_an_image_without_its_type_is_known_by_its_bytes() -> None:
    """Ollama takes the base64 alone."""

    def sent(data: str) -> list[str]:
        message = {"role": "user", "content": "What is it?", "images": [data]}
        answer = {"model": "m", "message": said("A dot."), "done": True, "done_reason": "stop"}
        return lines(trip(OLLAMA, {"model": "m", "messages": [message], "stream": False}, answer), only=DAMAGED)

    [line] = sent(PIXEL[: len(PIXEL) // 2 // 4 * 4])
    assert line.startswith(f"#0 {DAMAGED} (client, warning, P): an image (image/png) ends in the middle of the file")
    assert sent(PIXEL) == []
    assert sent("bm90IGFuIGltYWdl") == []


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/x-icon"])
def test_an_image_in_a_format_of_browsers_is_named(kind: str) -> None:
    assert only(WRONG, in_chat(kind, "PHN2ZyB4bWxucz0iaHR0cDovL3d3")).message == (
        f"an image is sent as {kind}, which the APIs of models do not read"
    )
    assert WRONG not in ids(in_chat("image/avif", "PHN2ZyB4bWxucz0iaHR0cDovL3d3"))


def test_an_image_without_data_is_damaged() -> None:
    assert only("client-media-damaged", in_chat("image/png", "")).message == "an image (image/png) has no data"
