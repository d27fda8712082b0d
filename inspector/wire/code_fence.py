"""Texts that are one block of code in Markdown, as models write JSON and calls."""

_MARK = "```"


def unfenced(text: str) -> tuple[str, str] | None:
    """The word behind the opening marks and what is between them, without blank lines around it.

    None when the text is anything else than one block between two lines of three backticks. The closing ones may be
    at the end of the last line.
    """
    body = text.strip()
    if not (body.startswith(_MARK) and body.endswith(_MARK) and len(body) >= 2 * len(_MARK)):
        return None
    label, newline, inner = body[len(_MARK) : -len(_MARK)].partition("\n")
    label = label.strip()
    if not newline or not all(sign.isalnum() or sign in "+-_" for sign in label):
        return None
    indent = len(inner) - len(inner.lstrip())
    return label, inner[inner.rfind("\n", 0, indent) + 1 :].rstrip()
