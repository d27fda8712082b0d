"""A recorded URL is split whatever it is: a client may send anything."""

import pytest

from turntape.cassettes.tape.model import split_url


def test_a_url_has_its_parts() -> None:
    parts = split_url("https://api.openai.com:8443/v1/x?a=1")

    assert (parts.scheme, parts.hostname, parts.port, parts.path, parts.query) == (
        "https",
        "api.openai.com",
        8443,
        "/v1/x",
        "a=1",
    )


@pytest.mark.parametrize("url", ["https://[::1", "http://[x]/", "//[", "http://a]b/"])
def test_one_that_breaks_the_rules_is_all_path(url: str) -> None:
    parts = split_url(url)

    assert (parts.hostname, parts.path) == (None, url)
