"""Pictures in the report."""

import pytest
from conversations import chat, said
from made_pictures import PNG, in_a_part, of_a_tool
from report_pages import Opened

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report import report
from turntape.inspector.views.report.pictures import LARGEST, pictures


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        [{"image": {"format": "png", "source": {"bytes": PNG}}}],
    ],
    ids=["chat", "anthropic", "gemini", "converse"],
)
def test_a_picture_is_found_in_every_shape(raw: object) -> None:
    (found,) = map(str, pictures(raw))

    assert f'src="data:image/png;base64,{PNG}"' in found and 'alt="png picture, 1 × 1 pixels, 7' in found


@pytest.mark.parametrize(
    "text",
    ["iVBORw0KGgo is how a PNG begins, as text", "https://a.example/b.png", PNG + '"><script>', "/9j/" + "A" * LARGEST],
)
def test_a_text_that_is_not_a_picture_is_not_shown_as_one(text: str) -> None:
    assert not list(pictures({"text": text}))


def test_the_picture_of_a_message_is_in_its_turn() -> None:
    asked = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}]}
    run = Run.of([chat([asked], said("red"))])
    opened, hidden = (Opened("".join(report(run, "run", redacted=redacted))) for redacted in (False, True))

    assert f'<img src="data:image/png;base64,{PNG}"' in opened.views[0]
    assert "<img" not in hidden.views[0] and PNG not in hidden.everything


@pytest.mark.parametrize("trip", [in_a_part(), of_a_tool()], ids=["part", "tool"])
def test_pictures_of_an_answer_are_in_the_page_unless_it_is_neutral(trip: RoundTrip) -> None:
    run = Run.of([trip])

    assert f"data:image/png;base64,{PNG}" in Opened("".join(report(run, "run"))).views[0]
    assert PNG not in Opened("".join(report(run, "run", redacted=True))).everything
