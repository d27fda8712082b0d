from tool_stories import Story, text


def test_a_run_is_joined_by_an_id_in_meta() -> None:
    story = Story().start().turn(("call_7", "add", '{"a":1,"b":2}'))
    story.call("add", {"a": 1, "b": 2}, text("3"), **{"claudecode/toolUseId": "call_7", "progressToken": 4})

    [run] = story.results(("call_7", "3")).turn().runs()

    assert (run.call_id, run.turn, run.joined, run.by) == ("call_7", 2, "exact", "_meta.claudecode/toolUseId")
    assert (run.seen_by, run.seen_text, run.seen_as, run.lost) == (4, "3", "equal", ())
    assert (run.outcome, run.duration_ms, run.is_error, run.returned_text) == ("answered", 5.0, False, "3")


def test_a_run_is_joined_by_name_and_arguments() -> None:
    story = Story().start().turn(("call_7", "add", '{"b":2.0,"a":1}'))
    story.call("add", {"a": 1, "b": 2}, text("3"))

    [run] = story.results(("call_7", "3")).turn().runs()

    assert (run.call_id, run.joined, run.by) == ("call_7", "inferred", "name, arguments")


def test_equal_calls_are_joined_in_order_and_say_so() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}'), ("c2", "add", '{"a":1}'))
    story.call("add", {"a": 1}, text("1")).call("add", {"a": 1}, text("2"))

    one, two = story.results(("c1", "1"), ("c2", "2")).turn().runs()

    assert [(one.call_id, one.by), (two.call_id, two.by)] == [
        ("c1", "name, arguments, order"),
        ("c2", "name, arguments, order"),
    ]


def test_what_no_call_explains_stays_unjoined() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}'))
    story.call("add", {"a": 1}, text("1")).call("say", {"text": "x"}, text("x")).results(("c1", "1")).turn()

    assert [run.call_id for run in story.runs()] == ["c1"]
    [loose] = story.loose()
    assert (loose.name, loose.joined, loose.turn) == ("say", None, None)


def test_changed_arguments_are_joined_by_order_when_the_turn_is_over() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 5}, text("5"))

    [run] = story.results(("c1", "5")).turn().runs()

    assert (run.call_id, run.by) == ("c1", "name, order")
    assert story.loose() == []


def test_a_run_may_be_recorded_before_the_answer_that_asks_for_it() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("1"))
    story.trips[2], story.trips[3] = story.trips[3], story.trips[2]

    [run] = story.results(("c1", "1")).turn().runs()

    assert (run.call_id, run.seen_as) == ("c1", "equal")
    assert story.loose() == []


def test_a_run_may_be_recorded_after_the_next_request() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("1"))
    story.results(("c1", "1")).turn()
    story.trips[3], story.trips[4] = story.trips[4], story.trips[3]

    [run] = story.runs()

    assert (run.call_id, run.seen_as, run.seen_by) == ("c1", "equal", 4)


def earlier_result(*first: str, shows: str) -> Story:
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text(*first))
    story.results(("c1", " ".join(first))).turn(("c2", "add", '{"a":2}')).call("add", {"a": 2}, text("the sum is 2"))
    return story.results(("c2", shows)).turn()


def test_the_result_of_another_run_is_known_whatever_is_around_it() -> None:
    for shows in ("the sum\n\nis 1", "the sum is 1 <system-reminder>Now.</system-reminder>", "Output:\nthe sum is 1"):
        _, second = earlier_result("the sum", "is 1", shows=shows).runs()
        assert (second.seen_as, second.seen_of) == ("other", 3), shows


def test_a_result_that_holds_its_own_text_is_not_another_ones() -> None:
    _, second = earlier_result("the sum is 2", shows="the sum is 2").runs()

    assert (second.seen_as, second.seen_of) == ("equal", None)


def test_the_same_call_in_the_next_turn_has_its_own_run() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("1")).results(("c1", "1"))
    story.turn(("c2", "add", '{"a":1}')).call("add", {"a": 1}, text("2"))
    story.trips[4], story.trips[5] = story.trips[5], story.trips[4]
    story.results(("c2", "2")).turn()

    assert [(run.call_id, run.seen_text) for run in story.runs()] == [("c1", "1"), ("c2", "2")]


def test_a_call_that_a_client_made_twice_has_both_runs() -> None:
    story = Story().start().turn(("c1", "add", '{"a":1}'))
    story.call("add", {"a": 1}, text("1")).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()

    assert [(run.call_id, run.by) for run in story.runs()] == [("c1", "name, arguments")] * 2
    assert story.loose() == []


def test_a_picture_may_be_in_another_message_than_the_result() -> None:
    data = "iVBORw0KGgo" + "A" * 200
    picture = {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}

    def lost(*more: dict[str, object]) -> tuple[str, ...]:
        story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, picture)
        story.results(("c1", "The picture is below."))
        story.messages.extend(more)
        [run] = story.turn().runs()
        return run.lost

    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    assert lost({"role": "user", "content": [part]}) == ()
    assert lost({"role": "user", "content": data[:40]}) == lost() != ()
