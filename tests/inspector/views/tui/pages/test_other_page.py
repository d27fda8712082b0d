"""The page of a round trip that is not a turn."""

from dataclasses import replace

from made_pictures import PNG, alone
from round_trips import exchanged

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.other_page import other_blocks


def test_what_it_was_for_is_said_and_its_pictures_are_drawn_in_place_of_their_base64() -> None:
    blocks = {block.key: block for block in other_blocks(Run.of([alone()]).detail(0))}
    texts = {
        key: ["".join(text for text, _ in line) for line in block.body(80)]
        for key, block in blocks.items()
        if block.body is not None
    }

    assert texts["head"] == ["images, no turn of a conversation  round trip #0"]
    assert texts["answer"][0] == "▀"
    shown = "\n".join(texts["answer"])
    assert PNG not in shown and f"{PNG[:16]}… ({len(PNG)} characters of base64)" in shown
    assert '  "prompt": "a dot"' in texts["request"]


def test_embeddings_are_shortened() -> None:
    floats, text = [0.5] * 1536, "WhRrPEjO" * 128
    answer = {"data": [{"embedding": floats}, {"embedding": text}, {"embedding": [1, 2]}], "note": "x" * 20}
    url = "https://api.openai.com/v1/embeddings"
    blocks = other_blocks(Run.of([exchanged(url, {"input": "a"}, answer)]).detail(0))
    body = next(block.body for block in blocks if block.key == "answer")

    assert body is not None
    shown = "\n".join("".join(text for text, _ in line) for line in body(80))
    assert "… 1,536 numbers" in shown and shown.count("0.5") == 4
    assert "WhRrPEjOWhRrPEjO… (1,024 characters of base64)" in shown and text not in shown
    assert "x" * 20 in shown and "2" in shown


def test_a_body_with_more_levels_than_python_follows_is_shown() -> None:
    deep = exchanged("https://api.openai.com/v1/embeddings", {"input": "a"}, {})
    assert deep.response is not None
    deep = replace(deep, response=replace(deep.response, content=b"[" * 1000 + b"]" * 1000))
    body = next(block.body for block in other_blocks(Run.of([deep]).detail(0)) if block.key == "answer")

    assert body is not None and len(body(80)) > 1000
