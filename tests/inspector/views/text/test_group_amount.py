"""How much a group of pieces is."""

import pytest

from turntape.inspector.ledger import Group
from turntape.inspector.views.text.group_amount import group_amount


@pytest.mark.parametrize(
    ("size", "sent", "output", "counted", "shown"),
    [
        (75, 0, 0, False, "75 B"),
        (75, 1200, 0, True, "1.2k"),
        (0, 0, 22, True, "22"),
        (0, 0, 0, True, "0"),
        (0, 0, 0, False, "?"),
    ],
)
def test_a_group_that_nobody_counted_has_its_bytes_and_never_none_of_them(
    size: int, sent: int, output: int, counted: bool, shown: str
) -> None:
    assert group_amount(Group("output", 1, size, sent, output, None, counted=counted)) == shown
