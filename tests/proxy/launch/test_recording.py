"""Which hosts a recording must see."""

from turntape.proxy.launch.recording import llm_hosts


def test_intercepted_hosts_are_as_little_exempt_as_known_ones() -> None:
    hosts = llm_hosts(["gw.corp.example", "*"])

    assert "api.openai.com" in hosts
    assert "gw.corp.example" in hosts
    assert "*" not in hosts
