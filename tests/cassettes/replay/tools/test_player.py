"""A recorded tool server says again what it said, with the ids of this client and at the same places."""

from itertools import count
from urllib.parse import quote

import orjson
import pytest

from turntape.cassettes import Matching
from turntape.cassettes.matching.bindings import Bindings
from turntape.cassettes.matching.fresh_values import split
from turntape.cassettes.recording.tool_session import ToolSession
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.replay.pace import Pace
from turntape.cassettes.replay.tools.connection import APART, PATIENCE, ToolConnection
from turntape.cassettes.replay.tools.player import ToolPlayer
from turntape.cassettes.tape.model import RoundTrip, Side, ToolServer

type Line = tuple[Side, dict[str, object] | bytes]

_numbers = count()


class Kept:
    """A sink that keeps the round trips."""

    def __init__(self) -> None:
        self.trips: list[RoundTrip] = []

    def write(self, round_trip: RoundTrip) -> int:
        self.trips.append(round_trip)
        return len(self.trips) - 1

    def tool_server(self, server: ToolServer) -> None: ...
    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None: ...
    def tool_server_end(self, server: ToolServer) -> None: ...


def session(*lines: Line, at: float = 100.0, closed_first: Side = "client", server: str = "files") -> list[RoundTrip]:
    """A recorded session; its messages are a second apart."""
    sink = Kept()
    recorded = ToolSession(sink, ToolServer(f"s{next(_numbers)}", server, started_at=at))
    for place, (sender, data) in enumerate(lines):
        recorded.message(sender, data if isinstance(data, bytes) else written(data), at + place)
    recorded.end(exit_code=0, closed_first=closed_first, at=at + len(lines))
    return sink.trips


def written(fields: dict[str, object]) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


def client(number: object, method: str, **params: object) -> Line:
    return "client", {"id": number, "method": method, "params": params}


def call(number: object, name: object = "read", meta: object = None, **arguments: object) -> Line:
    params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return "client", {"id": number, "method": "tools/call", "params": params}


def answer(number: object, text: object = "done") -> Line:
    return "server", {"id": number, "result": {"text": text}}


def notice(method: str, **params: object) -> Line:
    return "server", {"method": f"notifications/{method}", "params": params}


def ask(connection: ToolConnection, line: Line, now: float = 0.0, until: float = 0.0) -> list[object]:
    """What the server says to a message, at once or until some time."""
    data = line[1] if isinstance(line[1], bytes) else written(line[1])
    connection.receive(data, now)
    return [short(data) for data in (*connection.due(now), *(connection.due(until) if until else ()))]


def short(data: bytes) -> object:
    """`(id, text)` of an answer, the method of a notification, `(id, method)` of a request, and anything else whole."""
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data
    if "method" in said:
        return (said["id"], said["method"]) if "id" in said else said["method"].removeprefix("notifications/")
    result = said["result"] if "result" in said else said["error"]
    return said["id"], result.get("text", result.get("message", result))


def connected(*trips: list[RoundTrip], **settings: Matching) -> ToolConnection:
    return ToolPlayer([trip for one in trips for trip in one], **settings).connect("files")  # type: ignore[arg-type]


def test_a_call_gets_its_answer_under_the_clients_id() -> None:
    files = connected(session(call(1, path="a"), answer(1, "A"), call(2, path="b"), answer(2, "B")))

    assert ask(files, call("x", path="b")) == [("x", "B")]
    assert ask(files, call(0, path="a")) == [(0, "A")]


@pytest.mark.parametrize(
    ("recorded", "given"),
    [({"n": 1.0}, {"n": 1}), ({"n": 10**19}, {"n": 1e19}), ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1})],
)
def test_arguments_are_compared_as_json_with_doubles(recorded: dict[str, object], given: dict[str, object]) -> None:
    files = connected(session(call(1, **recorded), answer(1, "yes")))

    assert ask(files, call(1, **given)) == [(1, "yes")]


def test_equal_calls_are_answered_in_their_order_and_never_once_more() -> None:
    files = connected(session(call(1), answer(1, "first"), call(2), answer(2, "second")))

    assert [ask(files, call(n))[0] for n in (1, 2)] == [(1, "first"), (2, "second")]
    (missed,) = ask(files, call(3))
    assert "recorded 2 times with these arguments, and is called again" in str(missed)


def test_meta_does_not_count() -> None:
    files = connected(session(call(1, meta={"progressToken": 1}), answer(1, "yes")))

    assert ask(files, call(1, meta={"progressToken": "other", "x": 1})) == [(1, "yes")]


def test_a_changed_argument_is_named_in_the_answer_and_in_the_report() -> None:
    player = ToolPlayer(session(call(1, path="a", deep={"n": 1}), answer(1), call(2, "list"), answer(2)))
    files = player.connect("files")

    ((_, result),) = ask(files, call(7, path="a", deep={"n": 2}))  # type: ignore[misc]

    assert result == {
        "content": [
            {
                "type": "text",
                "text": "no recorded call answers the tool read of the server files: the nearest is #0, where /deep/n "
                "was 1 and is 2; record again if the change is intended",
            }
        ],
        "isError": True,
        "resultType": "complete",
    }
    assert player.lines() == [
        f"changed: {player.misses[0]}",
        "not called: files read (#0)",
        "not called: files list (#1)",
    ]


def test_a_tool_that_was_not_called_has_no_nearest_call() -> None:
    player = ToolPlayer(session(call(1), answer(1)))

    ask(player.connect("files"), call(1, "write"))

    assert str(player.misses[0]).endswith("the tool write of the server files: it was not called in the recording")


def test_where_changes_are_allowed_the_nearest_call_answers() -> None:
    trips = session(call(1, path="a", n=1), answer(1, "A"), call(2, path="b", n=1), answer(2, "B"))
    player = ToolPlayer(trips, matching=Matching("ordered"))

    assert ask(player.connect("files"), call(5, path="b", n=2)) == [(5, "B")]
    assert player.lines()[0] == "tolerated: files read (#1): /n was 1 and is 2"


def test_values_of_this_run_are_in_arguments_and_answers() -> None:
    class Values:
        bindings = Bindings()

    there = "/srv/ci/checkout"
    assert Values.bindings.unify(split("cwd: /home/ana/proj").values, split(f"cwd: {there}").values)
    player = ToolPlayer(session(call(1, path="/home/ana/proj/a"), answer(1, "/home/ana/proj/a is b")), values=Values())

    assert ask(player.connect("files"), call(1, path=f"{there}/b")) != [(1, f"{there}/a is b")]
    assert ask(player.connect("files"), call(1, path=f"{there}/a")) == [(1, f"{there}/a is b")]
    assert [one.pointer for one in player.misses[0].differences] == ["/path"]


@pytest.mark.parametrize(
    ("recorded", "given"), [("/srv/My Project/\u00e4 b", "/srv/ci"), ("/srv/ci", "/srv/My Project/b")]
)
def test_the_folder_of_a_server_may_have_spaces_in_its_path(recorded: str, given: str) -> None:
    trips = session(call(1, path=f"{recorded}/a b"), answer(1, f"file://{quote(recorded)}/a is {recorded}"))
    player = ToolPlayer(trips, servers=[ToolServer("-", "files", cwd=recorded)])

    asked = call(1, path=f"{given}/a b")
    assert ask(player.connect("files", given), asked) == [(1, f"file://{quote(given)}/a is {given}")]


def test_new_values_in_arguments_are_bound_unless_every_value_counts() -> None:
    trips = session(call(1, path="/home/ana/a"), answer(1, "/home/ana/b"))

    assert ask(connected(trips), call(1, path="/home/bo/a")) == [(1, "/home/bo/b")]
    assert ask(connected(trips, matching=Matching(map_values=False)), call(1, path="/home/bo/a")) != [(1, "/home/bo/b")]


def test_a_call_with_an_id_of_the_recording_gets_its_own_answer_in_any_order() -> None:
    ids = ("3f0a2a52-6d1c-4c8e-9a53-0d8f5a1c7e11", "b7c1d9e4-2f3b-4a6d-8e90-5c4b3a291807")
    player = ToolPlayer(
        [
            *session(call(1, id=ids[0]), answer(1, "first"), at=100),
            *session(call(1, id=ids[1]), answer(1, "second"), at=200),
        ]
    )

    assert ask(player.connect("files"), call(1, id=ids[1])) == [(1, "second")]
    assert ask(player.connect("files"), call(1, id=ids[0])) == [(1, "first")]
    assert player.lines() == []


def test_a_resource_is_read_in_another_folder() -> None:
    class Values:
        bindings = Bindings()

    there = "/srv/ci/checkout"
    assert Values.bindings.unify(split("cwd: /home/ana/proj").values, split(f"cwd: {there}").values)
    read = (client(n, "resources/read", uri=f"file:///home/ana/proj/{name}") for n, name in ((1, "a"), (2, "b")))
    lines = [line for n, said in enumerate(read, 1) for line in (said, answer(n, f"/home/ana/proj is {n}"))]
    player = ToolPlayer(session(*lines), values=Values())
    files = player.connect("files")

    for n, name in ((2, "b"), (1, "a")):
        asked = client(n, "resources/read", uri=f"file://{there}/{name}")
        assert ask(files, asked, until=9) == [(n, f"{there} is {n}")]
    assert player.lines() == []


def test_a_resource_that_was_not_read_is_a_miss_with_what_differs() -> None:
    lines = (client(1, "resources/read", uri="x://a"), answer(1), client(2, "logging/setLevel", level="info"))
    player = ToolPlayer(session(*lines, ("server", {"id": 2, "result": {}})))
    files = player.connect("files")

    ((_, refused),) = ask(files, client(3, "resources/read", uri="x://b"))  # type: ignore[misc]
    ask(files, client(4, "logging/setLevel", level="debug"))

    said = (
        "no recorded request answers resources/read of the server files: the nearest is #0, where /uri was "
        '"x://a" and is "x://b"; record again if the change is intended'
    )
    assert refused == f"turntape: {said}"
    assert player.lines() == [f"changed: {said}", "extra: logging/setLevel was not recorded for the server files"]


def test_calls_are_shared_by_the_processes_of_a_server() -> None:
    player = ToolPlayer(
        [
            *session(client(0, "initialize"), answer(0, "hello"), call(1), answer(1, "first"), at=100),
            *session(client(0, "initialize"), answer(0, "again"), call(1), answer(1, "second"), at=200),
        ]
    )
    processes = [player.connect("files") for _ in range(3)]

    assert [ask(one, client(0, "initialize"), until=9)[0] for one in processes] == [
        (0, "hello"),
        (0, "again"),
        (0, "again"),
    ]
    assert [ask(processes[place], call(1))[0] for place in (2, 0)] == [(1, "first"), (1, "second")]
    assert player.unplayed == []


def batch(*lines: Line) -> Line:
    return lines[0][0], b"[" + b",".join(written(fields) for _, fields in lines if isinstance(fields, dict)) + b"]"


def lines(connection: ToolConnection, line: Line) -> list[object]:
    """What the server says, line by line; a batch is a list."""
    connection.receive(line[1] if isinstance(line[1], bytes) else written(line[1]), 0.0)
    return [
        [short(orjson.dumps(one)) for one in said] if isinstance(said := orjson.loads(data), list) else short(data)
        for data in connection.due(9.0)
    ]


BATCHES = session(
    client(0, "initialize"),
    answer(0, "hello"),
    batch(client(1, "tools/list"), call(2, path="a"), notice("cancelled"), call("2", path="b")),
    batch(answer("2", "B"), answer(2, "A"), answer(1, "tools")),
    batch(call(3, path="c"), call(4, path="d")),
    answer(4, "D"),
    answer(3, "C"),
)


def test_a_batch_is_answered_as_one_line_when_the_server_answers_in_batches() -> None:
    files = connected(BATCHES)

    assert lines(files, client(9, "initialize")) == [(9, "hello")]
    asked = batch(call("x", path="b"), notice("cancelled"), call(7, path="a"), client(8, "tools/list"))
    assert lines(files, asked) == [[("x", "B"), (7, "A"), (8, "tools")]]
    assert lines(files, batch(call(1, path="c"), call(2, path="d"))) == [[(2, "D"), (1, "C")]]


def test_each_message_of_a_batch_may_come_alone_and_other_lines_are_not_held_back() -> None:
    files = connected(BATCHES)

    assert [lines(files, call(place, path=name)) for place, name in enumerate("ba")] == [[(0, "B")], [(1, "A")]]
    assert lines(files, batch(notice("cancelled"))) == []
    files.receive(written({"id": 5, "method": "ping"}), 9.0)
    assert [short(data) for data in files.due(9.0)] == [(5, {})]


def test_a_server_that_answers_one_by_one_does_so_again() -> None:
    files = connected(session(batch(call(1, path="a"), call(2, path="b")), answer(2, "B"), answer(1, "A")))

    assert lines(files, batch(call(3, path="a"), call(4, path="b"))) == [(4, "B"), (3, "A")]


def test_servers_are_distinguished_by_their_names() -> None:
    player = ToolPlayer([*session(call(1), answer(1, "files")), *session(call(1), answer(1, "web"), server="web")])

    assert ask(player.connect("web"), call(1)) == [(1, "web")]
    (missed,) = ask(player.connect("other"), client(1, "tools/list"))
    assert missed == (1, "turntape: tools/list was not recorded for the server other")


def test_the_start_takes_as_long_as_recorded_and_calls_are_answered_at_once() -> None:
    files = connected(session(client(0, "initialize"), answer(0), call(1), answer(1)))

    assert ask(files, client(0, "initialize"), now=10.0) == []
    assert files.wait(10.0) == 1.0
    assert files.due(10.9) == []
    assert [short(data) for data in files.due(11.0)] == [(0, "done")]
    assert files.wait(11.0) is None
    assert ask(files, call(1), now=11.0) == [(1, "done")]
    assert ask(files, client(2, "initialize"), now=11.0) == [(2, "done")]


def test_only_the_first_process_starts_as_slowly_as_recorded() -> None:
    player = ToolPlayer(session(client(0, "initialize"), answer(0), client(1, "tools/list"), answer(1)))
    first, second = player.connect("files"), player.connect("files")

    assert ask(first, client(0, "initialize")) == ask(first, client(1, "tools/list")) == []
    assert ask(second, client(0, "initialize")) == [(0, "done")]
    assert ask(second, client(1, "tools/list")) == [(1, "done")]


def test_an_opening_is_answered_as_recorded_whatever_its_parameters() -> None:
    refused: Line = ("server", {"id": 0, "error": {"code": -32601, "message": "no"}})
    files = connected(session(client(0, "server/discover", v=1), refused, client(1, "initialize", v=1), answer(1)))

    assert ask(files, client(5, "server/discover", v=2), until=9) == [(5, "no")]
    assert ask(files, client(6, "initialize", v=2), until=9) == [(6, "done")]


def test_what_was_not_recorded_is_refused_at_once_but_a_ping() -> None:
    player = ToolPlayer(session(call(1), answer(1)))
    files = player.connect("files")

    assert ask(files, client(0, "server/discover")) == [
        (0, "turntape: server/discover was not recorded for the server files")
    ]
    assert ask(files, client(1, "ping")) == [(1, {})]
    assert ask(files, ("client", {"method": "notifications/cancelled"})) == []
    assert player.lines()[0] == "extra: server/discover was not recorded for the server files"


def test_a_request_without_a_recorded_answer_gets_none() -> None:
    files = connected(session(client(0, "server/discover"), client(1, "initialize"), answer(1)))

    assert ask(files, client(0, "server/discover"), until=99) == []
    assert not files.closed


def test_a_list_is_the_one_after_as_many_changes() -> None:
    files = connected(
        session(
            *(client(1, "tools/list"), answer(1, "old"), client(2, "tools/list"), answer(2, "old too")),
            *(call(3), notice("tools/list_changed"), answer(3), client(4, "tools/list"), answer(4, "new")),
        )
    )

    assert [ask(files, client(n, "tools/list"), until=9)[0] for n in (1, 2, 3)] == [
        (1, "old"),
        (2, "old too"),
        (3, "old too"),
    ]
    assert ask(files, call(4)) == ["tools/list_changed", (4, "done")]
    assert [ask(files, client(n, "tools/list"), until=99)[0] for n in (5, 6)] == [(5, "new"), (6, "new")]


def test_what_the_server_says_on_its_own_comes_at_the_same_places() -> None:
    banner: Line = ("server", b"banner")
    initialized: Line = ("client", {"method": "notifications/initialized"})
    files = connected(
        session(
            *(banner, client(0, "initialize"), answer(0), initialized, notice("message", n=1)),
            *(call(1), notice("message", n=2), answer(1), notice("message", n=3), notice("tools/list_changed")),
            *(call(2, "last"), answer(2)),
        )
    )

    assert files.due(0.0) == [b"banner"]
    assert ask(files, client(0, "initialize"), until=9) == [(0, "done")]
    assert ask(files, ("client", {"method": "notifications/initialized"})) == ["message"]
    assert ask(files, call(1)) == ["message", (1, "done"), "message", "tools/list_changed"]
    assert ask(files, call(2, "last")) == [(2, "done")]


def test_progress_belongs_to_its_call_and_has_the_clients_token() -> None:
    files = connected(
        session(
            *(call(1, "slow", {"progressToken": 7}), call(2, "quick", {"progressToken": 8})),
            *(notice("progress", progressToken=7, progress=1), answer(2), answer(1)),
        )
    )

    files.receive(written(call(1, "slow", {"progressToken": "mine"})[1]), 0.0)  # type: ignore[arg-type]
    said = [orjson.loads(data) for data in files.due(0.0)]

    assert [one["params"] for one in said] == [{"progressToken": "mine", "progress": 1}]


def test_a_client_without_a_token_gets_no_progress() -> None:
    trips = session(call(1, meta={"progressToken": 7}), notice("progress", progressToken=7, progress=1), answer(1))

    assert ask(connected(trips), call(1)) == [(1, "done")]


def test_parallel_calls_are_answered_in_the_recorded_order() -> None:
    files = connected(session(call(1, "slow"), call(2, "quick"), answer(2, "Q"), answer(1, "S")))

    assert ask(files, call(1, "slow")) == []
    assert ask(files, call(2, "quick")) == [(2, "Q"), (1, "S")]


def test_an_answer_waits_only_so_long() -> None:
    files = connected(session(call(1, "slow"), call(2, "quick"), answer(2, "Q"), answer(1, "S")))

    assert ask(files, call(1, "slow"), now=5.0) == []
    assert files.wait(5.0) == PATIENCE
    assert [short(data) for data in files.due(5.0 + PATIENCE)] == [(1, "S")]
    assert ask(files, call(2, "quick"), now=9.0) == [(2, "Q")]


def test_answers_over_separate_connections_are_apart() -> None:
    player = ToolPlayer(session(call(1, "slow"), call(2, "quick"), answer(2, "Q"), answer(1, "S")))
    files = player.connect("files", answers_apart=True)

    assert ask(files, call(1, "slow"), now=5.0) == []
    assert ask(files, call(2, "quick"), now=6.0) == [(2, "Q")]
    assert files.wait(6.0) == pytest.approx(APART)
    assert files.due(6.0 + APART * 0.9) == []
    assert [short(data) for data in files.due(6.0 + APART)] == [(1, "S")]


@pytest.mark.parametrize(
    ("begun", "text", "gap"),
    [(101, "Q", APART), (101.96, "Q", 0.04), (101.995, "Q", 0.02), (101.995, "Q" * 2_000, 0.005), (105, "Q", None)],
)
def test_the_answers_of_two_servers_keep_their_order(begun: float, text: str, gap: float | None) -> None:
    lines = (call(1, "slow"), notice("message"), notice("message"), answer(1, "S"))
    slow = session(*lines, at=100, server="slow")
    quick = session(call(1, "quick"), answer(1, text), at=begun, server="quick")
    player = ToolPlayer([*slow, *quick])
    one, other = player.connect("slow"), player.connect("quick")

    assert ask(one, call(7, "slow"), now=5.0) == ["message", "message", *([(7, "S")] if gap is None else [])]
    assert ask(other, call(3, "quick"), now=5.2) == [(3, text)]
    if gap is not None:
        assert one.due(5.2) == []
        assert one.wait(5.2) == pytest.approx(gap)
        assert [short(data) for data in one.due(5.2 + gap + 1e-6)] == [(7, "S")]


def roots_asked() -> ToolConnection:
    asked: Line = ("server", {"id": 40, "method": "roots/list"})
    said: Line = ("client", {"id": 40, "result": {"roots": []}})
    return connected(session(call(1), asked, said, notice("message"), answer(1)))


def test_a_request_of_the_server_waits_for_the_clients_answer() -> None:
    files = roots_asked()

    assert ask(files, call(1)) == [(1, "roots/list")]
    assert ask(files, ("client", {"id": 99, "result": {}})) == []
    assert ask(files, ("client", {"id": 1, "result": {"roots": ["/other"]}})) == ["message", (1, "done")]


def test_a_client_that_does_not_answer_gets_its_result_all_the_same() -> None:
    files = roots_asked()

    assert ask(files, call(1), until=PATIENCE) == [(1, "roots/list"), "message", (1, "done")]


@pytest.mark.parametrize(("closed_first", "closed"), [("server", True), ("client", False)])
def test_a_server_that_ended_during_a_call_ends_again(closed_first: Side, closed: bool) -> None:
    files = connected(session(call(1), notice("message"), closed_first=closed_first))

    assert ask(files, call(1), until=99) == ["message"]
    assert files.closed is closed


def test_the_keys_of_a_result_keep_their_order() -> None:
    files = connected(session(call(1), ("server", b'{"jsonrpc":"2.0","id":1,"result":{"z":1,"a":"/home/ana/x"}}')))

    files.receive(written(call(3)[1]), 0.0)  # type: ignore[arg-type]

    assert files.due(0.0) == [b'{"jsonrpc":"2.0","id":3,"result":{"z":1,"a":"/home/ana/x"}}']


@pytest.mark.parametrize(("pace", "wait"), [(None, 1.0), ("instant", None), ("4", 0.25), ("max=0.5", 0.5)])
def test_the_answer_to_a_list_comes_at_the_pace(pace: str | None, wait: float | None) -> None:
    trips = session(client(1, "tools/list"), answer(1))
    files = ToolPlayer(trips, pace=Pace.of(pace) if pace else None).connect("files")

    assert ask(files, client(1, "tools/list"), 10.0) == ([(1, "done")] if wait is None else [])
    assert files.wait(10.0) == wait


SECRET = "sk-proj-" + "abcDEF0123456789" * 3


def redacted(trips: list[RoundTrip]) -> list[RoundTrip]:
    redactor = Redactor(salt="other")
    return [redactor.round_trip(trip) for trip in trips]


def test_a_secret_in_the_arguments_is_the_mark_of_the_recording() -> None:
    trips = redacted(session(call(1, key=SECRET), answer(1, "with a key")))
    assert SECRET.encode() not in trips[0].request.body

    connection = connected(trips)

    assert ask(connection, call(7, key=SECRET)) == [(7, "with a key")]


def test_a_secret_is_not_quoted_in_a_miss() -> None:
    player = ToolPlayer(redacted(session(call(1, key=SECRET, n=1), answer(1))))
    player.connect("files").receive(written(call(1, key=SECRET, n=2)[1]), 0.0)  # type: ignore[arg-type]
    player.connect("files").receive(written(call(2, key=SECRET, extra=SECRET)[1]), 0.0)  # type: ignore[arg-type]

    said = "\n".join(player.lines())
    assert "/n was 1 and is 2" in said
    assert "/extra" in said
    assert "abcDEF" not in said


def test_the_working_directory_that_no_text_names_is_that_of_the_server() -> None:
    trips = session(call(1, path="/home/ana/proj/a.txt"), answer(1, "read /home/ana/proj/a.txt and /home/ana/b"))
    player = ToolPlayer(trips, servers=[ToolServer("-", "files", cwd="/home/ana/proj")])

    connection = player.connect("files", "/srv/ci/job")

    assert ask(connection, call(1, path="/srv/ci/job/a.txt")) == [(1, "read /srv/ci/job/a.txt and /home/ana/b")]
    assert not player.misses


@pytest.mark.parametrize(
    ("recorded", "folder", "matching"),
    [
        (None, "/srv/ci/job", Matching()),
        ("/home/ana/proj", None, Matching()),
        ("/", "/srv/ci/job", Matching()),
        ("/home/ana/proj", "/srv/ci/job", Matching(map_values=False)),
    ],
)
def test_without_two_working_directories_nothing_is_mapped(
    recorded: str | None, folder: str | None, matching: Matching
) -> None:
    trips = session(call(1), answer(1, "read /home/ana/proj/a.txt"))
    player = ToolPlayer(trips, matching=matching, servers=[ToolServer("-", "files", cwd=recorded)])

    assert ask(player.connect("files", folder), call(1)) == [(1, "read /home/ana/proj/a.txt")]


def ended(closed_first: Side, *lines: Line, after: float = 1.0) -> ToolConnection:
    """A session whose process ended `after` seconds from its last message."""
    trips = session(*lines)
    key = trips[0].tool_wire.session if trips and trips[0].tool_wire else "s"
    at = 100.0 + max(len(lines) - 1, 0) + after
    process = ToolServer(key, "files", started_at=100.0, ended_at=at, exit=1, closed_first=closed_first)
    return ToolPlayer(trips, servers=[process]).connect("files")


def test_a_server_that_ended_unasked_ends_as_long_after_its_last_answer() -> None:
    files = ended("server", call(1, path="a"), answer(1, "A"), call(2, path="b"), answer(2, "B"), after=0.5)

    assert ask(files, call(1, path="a"), now=10.0) == [(1, "A")]
    assert (files.closed, files.wait(10.0)) == (False, None)
    assert ask(files, call(2, path="b"), now=20.0) == [(2, "B")]
    assert (files.closed, files.wait(20.0)) == (False, 0.5)
    assert files.due(20.5) == [] and files.closed


def test_a_call_that_the_client_gave_up_does_not_end_a_server_that_ended_later() -> None:
    cancelled: Line = ("client", {"method": "notifications/cancelled", "params": {"requestId": 1}})
    lines = (call(1, path="a"), cancelled, call(2, path="b"), answer(2, "B"), call(3, path="c"))
    trips = session(*lines, closed_first="server")

    def played(servers: list[ToolServer]) -> ToolConnection:
        files = ToolPlayer(trips, servers=servers).connect("files")
        assert ask(files, call(1, path="a"), now=10.0) == [] and not files.closed
        assert ask(files, call(2, path="b"), now=20.0, until=30.0) == [(2, "B")] and not files.closed
        return files

    assert trips[0].tool_wire is not None
    process = ToolServer(trips[0].tool_wire.session, "files", started_at=100.0, ended_at=104.0, closed_first="server")
    for servers in ([], [process]):
        files = played(servers)
        assert ask(files, call(3, path="c"), now=40.0) == [] and files.closed


def test_a_server_that_the_client_ended_stays() -> None:
    files = ended("client", call(1, path="a"), answer(1, "A"), after=0.0)

    assert ask(files, call(1, path="a"), now=10.0, until=99.0) == [(1, "A")]
    assert (files.closed, files.wait(99.0)) == (False, None)


def test_a_server_that_ended_before_any_message_reads_none() -> None:
    files = ended("server", after=2.0)

    assert files.due(10.0) == []
    assert ask(files, client(0, "initialize"), now=10.0) == []
    assert files.wait(10.0) == 2.0
    assert files.due(12.0) == [] and files.closed


def test_what_a_server_wrote_to_stderr_comes_with_the_message_that_it_followed() -> None:
    trips = session(call(1, path="a"), answer(1, "A"), call(2, path="b"), answer(2, "B"))
    assert trips[0].tool_wire is not None
    stderr = ((0, b"banner"), (900_000, b"early"), (2_500_000, b"second"), (9_000_000, b"late"))
    process = ToolServer(trips[0].tool_wire.session, "files", started_at=100.0, stderr=stderr)
    files = ToolPlayer(trips, servers=[process]).connect("files")

    assert files.errors() == b""
    ask(files, call(1, path="a"))
    assert files.errors() == b"bannerearly"
    ask(files, call(2, path="b"))
    assert files.errors() == b"second"
    assert (files.rest_of_errors(), files.rest_of_errors()) == (b"late", b"")
