"""What definitions are in tokens."""

from turntape.inspector.ledger.definition_tokens import Definitions, definitions_of


def test_the_model_says_how_definitions_are_written() -> None:
    assert definitions_of("us.anthropic.claude-sonnet-4-5") == Definitions(1.0, 346)
    assert definitions_of("gpt-4.1-mini").factor == definitions_of("azure/o3-mini").factor == 0.7
    assert definitions_of("gpt-oss-120b") == definitions_of("somebody/else") == Definitions()
