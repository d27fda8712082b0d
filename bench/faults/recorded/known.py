"""Findings above info in healthy loops of the corpus that are true: in how many of the chosen loops, and why.

Each was looked at. A class that is not here, or is found in more loops than here, is a false alarm until it was looked
at as well.
"""

EXPLAINED: dict[str, tuple[int, str]] = {
    "api-model-substituted": (1, "a retired name of xAI, served by a newer model"),
    "client-history-truncated": (2, "a test leaves the question out of the second request, and nothing replaces it"),
    "model-args-break-schema": (27, "Gemini models give arguments to a tool without parameters; a model names a field "
                                    "that the schema does not have"),
    "model-repeated-call": (1, "a test asks the model to repeat one call, which it does, with the same result"),
    "model-unknown-tool": (5, "a Gemini model calls a tool that is in its history and is no longer offered"),
}  # fmt: skip

NOT_YET: frozenset[str] = frozenset(
    {
        "a call that no model made",
        "a call with an empty id",
        "a call written as text, bare JSON",
        "an answer that is not the JSON that was requested",
        "an answer that no model gave",
        "an answer without a choice",
        "another conversation in front",
        "no finish word",
    }
)
"""Faults that turntape does not find yet; the bench counts them as missed."""

PENDING: frozenset[str] = frozenset(
    {
        "api-call-without-id",
        "api-finish-missing",
        "client-foreign-history",
        "client-forged-answer",
        "model-answer-breaks-schema",
        "model-answer-not-json",
    }
)
"""Findings that faults name and turntape does not have yet."""
