"""The environment of a replay in a test."""

from turntape.cassettes.pytest_plugin.server import placeholders


def test_a_key_has_a_placeholder_only_where_the_client_has_none() -> None:
    found = placeholders({"GOOGLE_API_KEY": "own", "OPENAI_API_KEY": "own", "MISTRAL_API_KEY": ""})
    assert "ANTHROPIC_API_KEY" in found and "MISTRAL_API_KEY" in found
    assert not {"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} & found.keys()
