"""Strings that something damaged, in every API."""

import json

import pytest
from conversations import HELLO, chat, said
from dialogues import APIS, asks, calls, gives, says
from judged import anthropic, asked, judged, only, trip, with_answer, words

from turntape.inspector.findings.rules.result_text import cut_json, written_again

ARGUMENTS, TEXT, MESSAGE = "call-args-damaged", "answer-text-damaged", "client-text-damaged"
NAMES = sorted(APIS)


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("word", "asked", "layer", "tier", "what"),
    [
        ("text.py</parameter>\n</invoke>", "read", "model", "S", "ends with markup of a call ('</invoke>')"),
        ("a &gt;= 3 &amp;&amp; b", "read", "model", "S", "holds HTML escapes ('&gt;=')"),
        ("a &gt;= 3", "is a >= 3?", "model", "P", "is 'a >= 3' of the request HTML-escaped"),
        ("notes.md\0", "read notes.md", "model", "P", "is 'notes.md' of the request with NUL characters"),
        ("Z\u00c3\u00bcrich", "hi", "api", "S", "holds UTF-8 that was read as another encoding"),
        (
            "Z\u00c3\u00bcrich",
            "weather in Z\u00fcrich",
            "api",
            "P",
            "is 'Z\u00fcrich' of the request UTF-8 read",
        ),
        ("report\u2011final.md", "open report-final.md", "model", "P", "with typographic characters in place"),
        ('"notes.md"', "open notes.md", "model", "P", "is 'notes.md' of the request written as a JSON string"),
        ("```\nselect 1 from a\n```", "run select 1 from a", "model", "P", "put into a code fence"),
        ("`notes.md`", "open notes.md", "model", "P", "is 'notes.md' of the request put into backticks"),
        ("<think>Which file?</think>notes.md", "hi", "model", "S", "holds reasoning in tags ('<think>')"),
        ("notes.md assistant to=functions.look_up code", "hi", "model", "S", "continues as the header of another call"),
        ("notes.md\ncommentary to=functions.look_up", "hi", "model", "S", "('commentary to=functions.look_up')"),
        ("notes.md</thinking>", "hi", "model", "S", "holds reasoning in tags ('</thinking>')"),
        ("{{ city }}", "weather", "model", "S", "is a placeholder that nobody filled in"),
        ("<UNKNOWN>", "weather", "model", "S", "is a placeholder that nobody filled in"),
        ("<insert city here>", "weather", "model", "S", "is a placeholder that nobody filled in"),
        ("[your city]", "weather", "model", "S", "is a placeholder that nobody filled in"),
        ("YOUR_API_KEY", "weather", "model", "S", "is a placeholder that nobody filled in"),
        ('<|"|>notes.md<|"|>', "weather", "api", "S", "holds a token of the chat template ('<|\"|>')"),
        ("<start_of_turn>notes.md<end_of_turn>", "weather", "api", "S", "holds a token of the chat template"),
        ("caf\\u00e9 \\u201cx\\u201d na\\u00efve", "weather", "api", "S", "holds escapes in place of characters ('"),
        ("\\u6771\\u4eac\\u90fd", "weather", "api", "S", "holds escapes in place of characters ('"),
        ("a%2fb notes.md", "open a/b notes.md", "model", "P", "is 'a/b notes.md' of the request URL-encoded"),
        ("[THINK]Which file?[/THINK] notes.md", "hi", "model", "S", "holds reasoning in tags ('[THINK]')"),
        ("open\u0120the\u0120red\u0120door", "weather", "api", "S", "holds signs of the tokenizer's vocabulary"),
    ],
)
def test_an_argument_is_not_what_the_tool_should_get(
    api: str, word: str, asked: str, layer: str, tier: str, what: str
) -> None:
    one = only(ARGUMENTS, APIS[api]([asks(asked)], calls(word), 0))

    assert (one.layer, one.severity, one.tier) == (layer, "warning", tier)
    assert one.message.startswith("the argument 'word' of 'look_up' ")
    assert what in one.message


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    "word",
    [
        "tape",
        "notes<|im_end|>.md",
        "assistant to=functions.find is a header",
        "grep 'to=functions.look_up' notes.md",
        "grep -n '<|im_start|>' chat.jinja",
        "<|im_start|>user\nhi<|im_end|>\n{{ rest }}",
        "R&amp;D",
        "<b>a &gt;= 3</b>",
        "a\n<|x",
        "`ls`",
        "Z\u00fcrich",
        "{{a}} and more",
        "100%25",
        "C:\\new\\n",
        "const marks = ['\\u00e9', \"\\u201c\", `\\u201d`];",
        "text.replace(/[\\u2018\\u2019\\u201c\\u201d]/g, '')",
        '{"names": ["caf\\u00e9", "na\\u00efve", "\\u201cx"]}',
        "C:\\users\\u1",
        "<p>your city</p>",
        "<your-element></your-element>",
        "[x] insert a row",
        "YOUR_KEY is set",
    ],
)
def test_an_ordinary_argument_is_silent(api: str, word: str) -> None:
    found = APIS[api]([asks("look it up")], calls(word), 0)

    assert ARGUMENTS not in _ids(found)


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Z\u00c3\u00bcrich is large.", "holds UTF-8 that was read"),
        ("[object Object]", "is an object that JavaScript wrote as a string"),
        ("I don&#39;t know that.", "holds HTML escapes"),
        ("ChatCompletionMessage(content='Hi', role='assistant')", "is a message object of a framework"),
        ("First\\nthen\\nthen\\n", "holds '\\n' in place of line breaks"),
        ("Z\ufffdrich is large.", "holds the replacement character U+FFFD"),
        ("TheweatherinParisiscurrentlysunnyand22C.", "has no blanks between its words"),
        ('"A strip.\\nIt is \\"thin\\"."', "is a JSON string"),
        ("A wave: \ud83d", "holds half a character"),
        ("The\u0120tape\u0120is\u0120a\u0120strip.\u010a", "holds signs of the tokenizer's vocabulary ('\u0120')"),
        ("\u2581The\u2581tape\u2581is\u2581a strip.", "holds signs of the tokenizer's vocabulary ('\u2581')"),
        (
            'data: {"choices":[{"delta":{"content":"A"}}]}\n\ndata: [DONE]\n\n',
            "is a stream of events: a gateway put it",
        ),
        ('event: ping\ndata: {"type":"ping"}', "is a stream of events: a gateway put it"),
        (
            '{"object":"chat.completion","choices":[{"message":{"content":"A"}}]}',
            "is the whole body of a chat completion",
        ),
        ('{"candidates":[],"usageMetadata":{}}', "is the whole body of an answer of Gemini"),
        ('{"type":"message","role":"assistant","content":[]}', "is the whole body of a message"),
        ('{"role":"assistant","content":"It is warm."}', "is a message of a chat, as JSON"),
        ('{"object":"response","output":[]}', "is the whole body of a response"),
        ("A tape<0x0A>is<0xC3><0xBC>ber all.", "holds signs of the tokenizer's vocabulary ('<0x0A>')"),
    ],
)
def test_the_text_of_an_answer_is_not_what_a_model_writes(api: str, text: str, what: str) -> None:
    one = only(TEXT, APIS[api]([asks("hi")], says(text), 0))

    assert (one.layer, one.severity) == ("api", "warning")
    assert what in one.message


@pytest.mark.parametrize(
    "text",
    [
        "Z\u00fcrich.",
        "Use `&lt;` in HTML.",
        '{"a": "x &gt;= 3"}',
        '{"role":"assistant","content":"x","score":3}',
        '{"role":"user","content":"x"}',
        "R&amp;D",
        "```\na &gt;= 3\n```",
        "Foo(a=1)",
        "https://example.com/a-long-path/of-short-words",
        "A wave: \ud83d\udc4b, in two pieces of a stream.",
        "In GPT-2's vocabulary \u0120the is the word after a space, and \u0120a and \u0120of are others.",
        "\u0120the\n\u0120of\n\u0120and\n\u0120to",
        "Load over time: \u2581\u2582\u2583\u2585\u2587\u2581\u2581",
        "The byte <0x0A> is a line break.",
        '{"object":"list","choices":[]}',
        '{"type":"message","role":"user","content":[]}',
        "An event looks so:\n\ndata: {}",
        "```\ndata: {}\n```",
    ],
)
def test_an_ordinary_text_is_silent(text: str) -> None:
    assert TEXT not in _ids(APIS["chat"]([asks("hi")], says(text), 0))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[object Object]", "is a missing value or an object as a string"),
        ("undefined", "is a missing value or an object as a string"),
        ("Summarize this: {{ document }}", "holds '{{ document }}', which nobody filled in"),
        ("Weather in ${city}?", "holds '${city}', which nobody filled in"),
        ("Weather in Z\u00c3\u00bcrich?", "holds UTF-8 that was read as another encoding"),
        ("b'What is a tape?'", "is bytes that nobody decoded"),
        ("content='hi' additional_kwargs={} response_metadata={}", "is a message object of a framework"),
        ("[HumanMessage(content='hi', additional_kwargs={})]", "is a message object of a framework"),
        ('[{"type": "text", "text": "What is a tape?"}]', "is the list of its parts, written as a JSON string"),
        ("What is this: \ud83d", "holds half a character"),
    ],
)
def test_a_message_of_the_user_is_not_what_a_person_wrote(api: str, text: str, what: str) -> None:
    one = only(MESSAGE, APIS[api]([asks(text)], says("What do you mean?"), 0))

    assert (one.layer, one.severity) == ("client", "warning")
    assert what in one.message
    assert "a message of the user" in one.message


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{\\u0022order\\u0022:\\u0022A\\u0022}", "escapes in place of characters"),
        ("Z\u00c3\u00bcrich", "UTF-8 that was read as another encoding"),
        ("a\0b", "a NUL character"),
        ("All done \ud83d", "half a character"),
    ],
)
def test_a_result_was_damaged_on_its_way(api: str, text: str, what: str) -> None:
    called = calls("tape")
    trips = [
        APIS[api]([asks("look")], called, 0),
        APIS[api]([asks("look"), called, gives(text)], says("Done."), 1),
    ]
    one = only("client-result-damaged", *trips)

    assert (one.at, one.layer, one.severity) == (1, "client", "warning")
    assert f"the result of 'look_up' holds {what}" in one.message


@pytest.mark.parametrize(
    ("text", "written", "lost"),
    [
        ("Stra\ufffde in K\ufffdln", "tape", True),
        ("a long text \ufffd", "tape", False),
        ("K\ufffdln … (truncated)", "tape", False),
        ("saved K\ufffdln", "K\ufffdln", False),
    ],
)
def test_a_result_whose_bytes_were_lost(text: str, written: str, lost: bool) -> None:
    called = calls(written)
    trips = [
        APIS["chat"]([asks("look")], called, 0),
        APIS["chat"]([asks("look"), called, gives(text)], says("Done."), 1),
    ]

    assert ("client-result-damaged" in _ids(*trips)) is lost


def test_half_a_character_that_the_model_wrote_is_not_the_results_damage() -> None:
    called = calls("A wave: \ud83d")
    trips = [
        APIS["chat"]([asks("look")], called, 0),
        APIS["chat"]([asks("look"), called, gives("saved A wave: \ud83d")], says("Done."), 1),
    ]

    assert "client-result-damaged" not in _ids(*trips)


@pytest.mark.parametrize("api", NAMES)
def test_a_question_about_characters_of_another_encoding_may_quote_them(api: str) -> None:
    question = asks("Why does my page show It\u00e2\u20ac\u2122s and caf\u00c3\u00a9?")
    answer = says("It shows It\u00e2\u20ac\u2122s because UTF-8 was read as Windows-1252.")
    found = judged(APIS[api]([question], answer, 0))

    assert [(one.id, one.severity) for one in found if one.id in (MESSAGE, TEXT)] == [(MESSAGE, "info")]


def test_a_damaged_message_is_reported_once_and_at_its_request() -> None:
    history = [asks("[object Object]"), says("What?")]
    trips = [APIS["chat"](history[:1], history[1], 0), APIS["chat"]([*history, asks("Never mind.")], says("Well."), 1)]

    assert only(MESSAGE, *trips).at == 0


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("What is due?\n\nContext: [object Object]", "'[object Object]', which JavaScript writes for an object"),
        ("Book a table at the Caf\ufffd for two.", "the replacement character U+FFFD: bytes of it were lost"),
    ],
)
def test_what_a_program_put_into_a_message_is_an_info(api: str, text: str, what: str) -> None:
    one = only(MESSAGE, APIS[api]([asks(text)], says("What do you mean?"), 0))

    assert (one.layer, one.severity) == ("client", "info")
    assert one.message == f"a message of the user holds {what}: {text[:80]!r}"


@pytest.mark.parametrize(
    "text",
    [
        "Our page shows this, why?\n\nTotal: [object Object]",
        "Total: `[object Object]`",
        "I got [object Object] from the shop and like it.",
        "Which encoding gives Caf\ufffd?",
        "A file:\n```\nCaf\ufffd\n```",
    ],
)
def test_a_message_that_may_quote_them_is_not(text: str) -> None:
    assert MESSAGE not in _ids(APIS["chat"]([asks(text)], says("It is one."), 0))


def test_a_system_prompt_is_named() -> None:
    system = {"role": "system", "content": "You help {{ name }}."}

    assert "the system prompt holds" in only(MESSAGE, chat([system, HELLO], said("A strip."))).message


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("You are an assistant of [object Object]. Be brief.", True),
        ("Never print `[object Object]` for an object.", False),
        ("Never print '[object Object]' for an object.", False),
        ("You are an assistant. Be brief.", False),
    ],
)
def test_an_object_inside_a_system_prompt_is_an_info(prompt: str, found: bool) -> None:
    said_so = judged(chat([{"role": "system", "content": prompt}, HELLO], said("A strip.")))
    expected = "the system prompt holds '[object Object]', which JavaScript writes for an object: " + repr(prompt)

    assert [(one.severity, one.message) for one in said_so if one.id == MESSAGE] == (
        [("info", expected)] if found else []
    )


def test_the_damaged_argument_explains_the_error_of_the_tool() -> None:
    called = calls("a &gt;= 3 &amp;&amp; b")
    trips = [
        APIS["anthropic"]([asks("look")], called, 0),
        APIS["anthropic"]([asks("look"), called, gives("Error: syntax error near '&'")], says("It failed."), 1),
    ]

    assert only("client-tool-error-as-success", *trips).because_of == (ARGUMENTS,)


def _ids(*trips: object) -> set[str]:
    from judged import ids

    return ids(*trips)  # type: ignore[arg-type]


CUT = '{"items": [' + ", ".join(f'{{"id": {n}, "name": "entry {n}"}}' for n in range(20))


def after(api: str, text: str) -> set[str]:
    return _ids(APIS[api]([asks("hi"), calls("tape"), gives(text)], says("Done."), 0))


@pytest.mark.parametrize("api", NAMES)
def test_a_result_that_is_json_without_its_end(api: str) -> None:
    one = only(
        "client-result-damaged",
        APIS[api]([asks("hi"), calls("tape"), gives(CUT + ', {"id": 21, "na')], says("Done."), 0),
    )

    assert (one.layer, one.severity, one.tier) == ("client", "warning", "S")
    assert one.message.startswith("the result of 'look_up' is JSON that ends in the middle, after ")


@pytest.mark.parametrize(
    "text",
    [
        CUT + "]}",
        CUT + " ... (truncated)",
        CUT + ', {"id": 21, "na…',
        CUT + ", // 30 more items",
        CUT + ", oops: and then it continues as it likes",
        '{"items": [1, 2',
        "{'items': [" + "1, " * 100,
        "[see below] " + "a long line of prose " * 20,
        '{"a": 1}\n' * 40 + '{"b": "cut',
    ],
)
def test_a_result_that_is_whole_or_says_that_it_was_cut_is_silent(text: str) -> None:
    assert "client-result-damaged" not in after("chat", text)


def test_json_that_is_cut_is_known_by_its_end_alone() -> None:
    assert cut_json(CUT) and cut_json(f"  {CUT}, ") and cut_json(CUT + ', {"id": 2')
    assert not cut_json(CUT[:39]) and cut_json(CUT[:41])


@pytest.mark.parametrize("text", ["Question: {question}", "Context:\n{context}\nAnswer.", "{input}"])
def test_a_template_of_python_that_nobody_filled_in(text: str) -> None:
    assert "which nobody filled in" in only(MESSAGE, chat([{"role": "user", "content": text}], said("Hm."))).message


@pytest.mark.parametrize(
    "text", ["What is {x} in a set?", "{{question}}s", "How do I fill {question} in a template?", "`{input}` is empty"]
)
def test_braces_of_another_kind_are_silent(text: str) -> None:
    found = [one for one in _ids(chat([{"role": "user", "content": text}], said("Hm."))) if one == MESSAGE]
    assert found == ([MESSAGE] if text.startswith("{{") else [])


def test_json_that_was_written_as_a_string_again_and_again() -> None:
    value: object = {"name": "Rosa"}
    times = [json.dumps(value)]
    for _ in range(3):
        times.append(json.dumps(times[-1]))

    assert [written_again(text) for text in times] == [0, 1, 2, 3]
    assert written_again('"plain"') == written_again('"') == written_again("") == 0
    for text, expected in zip(times, (False, False, True, True), strict=True):
        assert ("client-result-damaged" in after("chat", text)) is expected


PROMPT = "Which of these three plans is the best one for a family?"


@pytest.mark.parametrize("api", NAMES)
def test_a_server_that_returns_the_prompt_in_front_of_the_answer(api: str) -> None:
    one = only(TEXT, APIS[api]([asks(PROMPT)], says(f"{PROMPT}\nThe second one."), 0))

    assert (one.layer, one.severity) == ("api", "warning")
    assert "begins with the whole message of the user" in one.message
    for quiet in (PROMPT, "Which plan is the best? The second.", f"You ask: {PROMPT} The second one."):
        assert TEXT not in _ids(APIS[api]([asks(PROMPT)], says(quiet), 0))
    assert TEXT not in _ids(APIS[api]([asks("Which one?")], says("Which one? The second."), 0))


@pytest.mark.parametrize(
    ("url", "asked", "answer"),
    [
        ("https://api.openai.com/v1/completions", {"model": "m", "prompt": PROMPT, "echo": True},
         {"object": "text_completion",
          "choices": [{"index": 0, "text": f"{PROMPT} The second.", "finish_reason": "stop"}]}),
        ("https://router.huggingface.co/hf-inference/models/m", {"inputs": PROMPT},
         [{"generated_text": f"{PROMPT} The second."}]),
    ],
)  # fmt: skip
def test_an_api_that_completes_a_text_may_return_the_text_too(url: str, asked: object, answer: object) -> None:
    assert TEXT not in _ids(trip(url, asked, answer))


@pytest.mark.parametrize("api", NAMES)
def test_the_codes_of_characters_of_any_script_are_not_what_a_person_wrote(api: str) -> None:
    escaped = only(MESSAGE, APIS[api]([asks("Read \\u8bf7\\u5b66\\u4e60 aloud")], says("Hm."), 0))

    assert "holds escapes in place of characters" in escaped.message
    assert MESSAGE not in _ids(APIS[api]([asks("Match [\\u4e00-\\u9fff] and \\u3042")], says("Hm."), 0))


def test_a_place_in_a_long_system_prompt_is_an_info_unless_the_prompt_talks_of_such() -> None:
    def prompted(text: str) -> list[str]:
        one = chat([{"role": "system", "content": f"{'You help people. ' * 20}{text}"}, HELLO], said("Hm."))
        return [found.severity for found in judged(one) if found.id == MESSAGE]

    assert prompted("Tools: ${toolsList}") == ["info"]
    assert prompted("Write `${toolsList}` there.") == prompted("A template has ${toolsList}.") == []


@pytest.mark.parametrize("text", ['"To be or not to be."', '"First" is quoted,\nand "last".', '"It is \\"thin'])
def test_a_text_in_quotation_marks_is_silent(text: str) -> None:
    assert TEXT not in _ids(chat([HELLO], said(text)))


@pytest.mark.parametrize(
    ("signature", "pieces", "found"), [("", 3, True), ("", 2, False), ("EqoBCkYIBxgCKkD" * 4, 3, False)]
)
def test_empty_thoughts_between_the_pieces_of_a_text_are_the_apis(signature: str, pieces: int, *, found: bool) -> None:
    blocks = [
        block
        for number in range(pieces)
        for block in ({"type": "thinking", "thinking": "", "signature": signature}, words(f"Piece {number}. "))
    ]
    messages = [one.message for one in judged(anthropic([asked("hi")], blocks)) if one.id == TEXT]

    assert messages == (
        ["the text of the answer is cut into pieces, with 3 thoughts between them that are empty and not signed"]
        if found
        else []
    )


@pytest.mark.parametrize(
    ("text", "counts", "found"),
    [
        ("None", {"completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 0}}, True),
        ("null", {"completion_tokens": 90, "completion_tokens_details": {"reasoning_tokens": 50}}, True),
        ("None", {"completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 0}}, False),
        ("None", {"completion_tokens": 90, "completion_tokens_details": {"reasoning_tokens": 88}}, False),
        ("None", {"completion_tokens": 40}, False),
        ("Done", {"completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 0}}, False),
    ],
)
def test_a_missing_value_in_place_of_a_longer_answer(text: str, counts: dict[str, object], *, found: bool) -> None:
    one = with_answer(chat([HELLO], said(text)), usage={"prompt_tokens": 9, **counts})

    assert any("a missing value as a word" in said_of.message for said_of in judged(one) if said_of.id == TEXT) is found
