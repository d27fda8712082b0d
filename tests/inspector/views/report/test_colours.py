"""The colours of the pages are those of all views."""

from turntape.inspector.views.report.colours import colours_of_kinds, colours_of_styles
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS


def test_the_colours_are_those_of_all_views() -> None:
    for kind in KIND_LOOKS:
        assert f"--{kind.name}: light-dark({kind.light}, {kind.dark})" in colours_of_styles()
        assert f"rect.{kind.name} {{ fill: var(--{kind.name}) }}" in colours_of_kinds()
