"""Which places of a recording the proxy must know when it is played."""

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.proxy.launch.recorded_hosts import recorded_hosts, recorded_streams


def test_hosts_of_encrypted_requests_are_listed_once() -> None:
    urls = (
        "https://llm.example.com:8443/v1/chat/completions",
        "wss://live.example.com/v1/realtime",
        "https://LLM.example.com:8443/v1/models",
        "http://plain.example.com/v1",
        "stdio://shop",
        "https://[broken",
        "https:///nowhere",
    )

    hosts = recorded_hosts(RoundTrip(Request("POST", url), None, 0.0) for url in urls)

    assert hosts == ("llm.example.com", "live.example.com")


def test_streams_of_tool_servers_are_listed_with_the_messages_to_them() -> None:
    stream = Response(200, content=b"event: endpoint\ndata: /messages?id=1\n\n")
    other = Response(200, content=b"data: {}\n\n")

    streams = recorded_streams(
        [
            RoundTrip(Request("GET", "http://127.0.0.1:7/sse?key=1"), stream, 0.0),
            RoundTrip(Request("POST", "http://127.0.0.1:7/messages?id=1"), None, 0.0),
            RoundTrip(Request("POST", "http://127.0.0.1:7/other"), None, 0.0),
            RoundTrip(Request("GET", "http://127.0.0.1:7/events"), other, 0.0),
        ]
    )

    assert list(streams) == ["127.0.0.1:7/sse", "127.0.0.1:7/messages"]
