"""Which hosts the proxy opens TLS to when a recording is played."""

from turntape.cassettes.tape.model import Request, RoundTrip
from turntape.proxy.launch.recorded_hosts import recorded_hosts


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
