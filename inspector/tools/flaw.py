"""How an answer of a tool server breaks MCP's form."""

from turntape.cassettes.frozen import frozen


@frozen
class Flaw:
    """How an answer breaks MCP's form."""

    text: str
    """The end of a sentence that begins with the result."""
    mild: bool = False
    """True where a tolerant client loses nothing by it."""
