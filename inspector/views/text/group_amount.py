"""How much a group of pieces is."""

from ...ledger import Group
from .number_format import count, size


def group_amount(group: Group) -> str:
    """The tokens of a group; its bytes where the API counted none, `?` where these are not known either."""
    tokens = group.tokens_sent + group.output
    if tokens or group.counted:
        return count(tokens)
    return size(group.size) if group.size else "?"
