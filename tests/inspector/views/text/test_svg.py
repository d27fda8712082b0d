from xml.etree import ElementTree

from conversations import loop

from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.views.text.run_text import story
from turntape.inspector.views.text.svg import svg


def test_the_picture_is_xml_that_holds_what_the_terminal_shows() -> None:
    lines = list(story(Cassette.from_round_trips(loop()), width=80))

    root = ElementTree.fromstring(svg(lines))

    texts = [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any("look_up" in text for text in texts)
    assert all(node.get("textLength") for node in root.iter("{http://www.w3.org/2000/svg}text"))
