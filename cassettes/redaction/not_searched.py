"""What keeps a text from being searched for secrets. Nobody knows what is in it then, so it is withheld."""


class NotSearched(Exception):
    """The reason, as the first half of a sentence."""
