"""Findings above info in healthy loops of the corpus that are true: in how many of the chosen loops, and why.

Each was looked at. A class that is not here, or is found in more loops than here, is a false alarm until it was looked
at as well.
"""

EXPLAINED: dict[str, tuple[int, str]] = {
    "api-model-substituted": (1, "a retired name of xAI, served by a newer model"),
    "client-forged-answer": (3, "a test puts answers that it wrote by hand behind the recorded one"),
    "client-foreign-history": (1, "a test puts an older conversation in front of its second request"),
    "client-system-prompt-lost": (1, "a test sends its last request without the system prompt and the tools"),
    "model-args-break-schema": (27, "Gemini models give arguments to a tool without parameters; a model names a field "
                                    "that the schema does not have"),
    "model-repeated-call": (1, "a test asks the model to repeat one call, which it does, with the same result"),
    "reasoning-in-text": (5, "a Qwen model on Ollama writes its reasoning into the text, and an end tag after it"),
    "model-unknown-tool": (5, "a Gemini model calls a tool that is in its history and is no longer offered"),
}  # fmt: skip

NOT_YET: frozenset[str] = frozenset()
"""Faults that turntape does not find yet; the bench counts them as missed."""

PENDING: frozenset[str] = frozenset()
"""Findings that faults name and turntape does not have yet."""
