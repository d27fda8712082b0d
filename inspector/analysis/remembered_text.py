"""A text that later requests are searched for. Of a long one only the beginning and a digest are in memory."""

from turntape.cassettes.frozen import frozen

LONG = 16 << 10
"""Characters. Of a longer text so many are kept."""
_PLACES = 8
"""At so many places another text is compared with a long one that seems to begin there."""


@frozen
class RememberedText:
    """Made by `remembered`."""

    front: str
    size: int
    digest: int
    """Of the whole text."""

    def is_in(self, text: str) -> bool:
        """Whether `text` has it anywhere."""
        if self.size <= LONG:
            return self.front in text
        at = text.find(self.front)
        for _ in range(_PLACES):
            if at < 0 or at + self.size > len(text):
                return False
            if hash(text[at : at + self.size]) == self.digest:
                return True
            at = text.find(self.front, at + 1)
        return False


def remembered(text: str) -> RememberedText:
    """What is kept of a text."""
    return RememberedText(text[:LONG], len(text), hash(text))
