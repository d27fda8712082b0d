"""The colours of the pages are those of all views."""

from turntape.inspector.views.report.colours import colours_of_kinds
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS


def test_the_colours_are_those_of_all_views() -> None:
    for kind in KIND_LOOKS:
        assert f"--kind-{kind.name}: light-dark({kind.light}, {kind.dark})" in colours_of_kinds()
