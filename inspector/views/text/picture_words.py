"""Pictures and files in a few words, for lines of text."""

from ...analysis.pictures import Picture, pictures_in
from ...wire.values import Part
from .number_format import size


def picture_words(picture: Picture) -> str:
    """A picture or file: `png, 1,024 × 768 pixels, 48 KB`."""
    pixels = f"{picture.width:,} × {picture.height:,} pixels" if picture.width and picture.height else ""
    words = (picture.type.removeprefix("image/"), pixels, size(picture.size))
    return ", ".join(word for word in words if word)


def kind_words(part: Part) -> str:
    """A part other than text, by its kind, with the pictures and files that it holds: `[media: png, 48 KB]`."""
    words = "; ".join(picture_words(one) for one in pictures_in(part.raw))
    return f"[{part.kind}: {words}]" if words else f"[{part.kind}]"
