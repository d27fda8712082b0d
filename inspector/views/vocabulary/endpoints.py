"""What a round trip outside generation was for, in words."""

from ...wire.values import Kind


def endpoint_words(kind: Kind, protocol: str) -> str:
    """`embeddings`, `count tokens`; the protocol where it is none of the known kinds."""
    return protocol if kind == "other" else kind.replace("_", " ")
