"""Names of volatile text: each covers the usual forms, and none covers a change of the prompt."""

import json
import re

import pytest

from turntape.cassettes import Matching, Player, ReplayMiss, Request, Response, RoundTrip
from turntape.cassettes.matching import volatile_text
from turntape.cassettes.matching.json_diff import Difference
from turntape.cassettes.matching.volatile_text import NAMED, may_be_meant, names_for, where_they_differ

CASES: list[tuple[str, str, str]] = [
    ("uuid", "id 8ac15262-1111-4222-8333-444455556666", "id 674bfc25-1111-4222-8333-444455556666"),
    ("uuid", "trace 0123456789abcdef0123456789abcdef", "trace fedcba98765432100123456789abcdef"),
    ("timestamp", "at 1795337291", "at 1795999999"),
    ("timestamp", '{"t":1795337291649}', '{"t":1795999999111}'),
    ("timestamp", "t=1795337291.12", "t=1795999999.8"),
    ("timestamp", "it is 11:43", "it is 9:05 PM"),
    ("timestamp", "2026-11-22T11:43:13Z", "2027-01-02T01:02:03.55+00:00"),
    ("timestamp", "Sun, 22 Nov 2026 11:43:13 GMT", "Mon, 23 Nov 2026 01:02:03 GMT"),
    ("timestamp", "Sun Nov 22 11:43:13 2026", "Mon Nov 23 01:02:03 2027"),
    ("timestamp", "am 22.11.2026 gut", "am 1.2.2027 gut"),
    ("timestamp", "on November 22, 2026.", "on May 3, 2027."),
    ("timestamp", "run 20261122_114313", "run 20270101_000000"),
    ("tmp", "in /tmp/pytest-of-root/pytest-12/test_a0/x.txt", "in /tmp/pytest-of-ana/pytest-99/test_a0/x.txt"),
    ("tmp", "in /tmp/tmpab12cd_9/out", "in /tmp/tmpzz98yx_1/out"),
    ("pid", "PID: 4123 ok", "PID: 99 ok"),
    ("port", "http://127.0.0.1:4123/x", "http://127.0.0.1:99/x"),
    ("duration", "took 1.23s", "took 0.4s"),
    ("address", "<object at 0x7f001122>", "<object at 0x7fee0011>"),
    ("hex", "commit 3972013f", "commit 75dff44a"),
    ("hex", "HEAD is now at 3972013 fix", "HEAD is now at 75dff44 fix"),
    ("hex", "HEAD is at beacd55, image: 12345678", "HEAD is at 0251908, image: 1d2c3b4a"),
    ("timestamp", "Today is Monday.", "Today is Thursday."),
    ("timestamp", "The current month is November, the year is 2026.", "The current month is May, the year is 2027."),
    ("timestamp", "this quarter: Q4, this season is winter", "this quarter: Q1, this season is spring"),
    ("counter", "INFO [worker-8] done", "INFO [worker-12] done"),
    ("random", "in thread_q3Xk9ZpL2aBc", "in thread_Zp8sLk2mQx7v"),
    ("random", "key bP-x8Qz_w1TkLm-2", "key rT4_kQ9-zWx7mP_a"),
    ("random", "user k3f9x2m1q", "user z8p2w7v4t"),
    ("random", "shipment 1JL3FZJZ207QC18REF3BC", "shipment 9JCAW8NOVVH2SV6FBT4CJ"),
    ("timestamp", "week 2026-W47-3", "week 2027-W03-5"),
    ("timestamp", "for November 2026, on 22 Nov.", "for January 2027, on 4 Jan."),
    ("timestamp", "[22/Nov/2026:11:43:13 +0000] GET", "[04/Jan/2027:01:02:03 -0500] GET"),
    ("timestamp", "le 22 novembre 2026", "le 4 janvier 2027"),
    ("timestamp", "今天是2026年11月22日", "今天是2027年1月4日"),
    ("timestamp", "3 minutes ago, Q4 2026, UTC+02:00", "an hour ago, Q1 2027, UTC-5"),
    ("timestamp", "now 3 pm, zone: Europe/Rome", "now 11am, zone: America/New_York"),
    ("timestamp", "on Sept. 22, Tue", "on May 4, Mon"),
    ("timestamp", "120 Nov 22 11:43 a.txt", "120 Jan  4 01:02 a.txt"),
    ("duration", "took PT1H2M3.5S, 1m23.4s", "took PT12M1.25S, 0.2s"),
    ("port", "Server on port 49152, peer 10.1.2.3:5", "Server on port 61233, peer 10.1.2.3:77"),
    ("pid", "sshd[48213]: /proc/48213/fd", "sshd[912]: /proc/912/fd"),
    ("ip", "2001:db8::1:2f3 02:42:ac:11:00:02", "2001:db8:0:1::9 06:5b:9e:aa:bb:cc"),
    ("host", "on anas-MacBook.local", "on bobs-Air.local"),
    ("hex", 'ETag: "5e15153d-120f"', 'ETag: "60a2b7c1-98fe"'),
    (
        "tmp",
        r"in C:\Users\RUNNER~1\AppData\Local\Temp\pytest-of-me\pytest-0\x",
        r"in C:\Users\a\AppData\Local\Temp\t_1",
    ),
    ("random", "link V1StGXR8_Z5jdHi6B-myT", "link pX0q-7Yc_kR3tN9wLbD2m"),
    ("random", "nonce dGhpcyBpcyBhIG5vbmNl+/8=", "nonce YW5vdGhlciBub25jZSBoZXJl/1=="),
    ("timestamp", "log 2026-11-22T11_43_13_123Z-0.log", "log 2027-01-04T01_02_03_987Z-0.log"),
    ("timestamp", "Date: Sun Nov 22 11:43:13 2026 +0100", "Date: Mon Jan 4 01:02:03 2027 +0000"),
    ("timestamp", "the 22nd of November, 2026", "the 4th of January, 2027"),
    ("timestamp", "day 326 of the year 2026", "day 4 of the year 2027"),
    ("duration", "finished in 2m 03s", "finished in 47.10s"),
    ("counter", "[http-nio-8080-exec-3] <Task-31>", "[http-nio-8080-exec-10] <Task-8>"),
    ("host", "web-844fbc9777-vhl79 1/1", "web-5c7d8b6f4f-x2kqz 1/1"),
    ("random", "Sandbox name: quick-red-fox-17", "Sandbox name: slow-old-owl-4"),
    (
        "usage",
        "up 4 min,  1 user,  load average: 1.03, 0.56, 0.22",
        "up 9 days, 31 min,  2 users,  load average: 0.10, 0.22, 0.31",
    ),
    ("usage", "/dev/vda 252G 24G 216G 10% /", "/dev/vda 252G 31G 209G 13% /"),
    ("usage", "Free memory: 21.3 GiB", "Free memory: 9.8 GiB"),
    ("usage", "Memory usage: 128.4 MB", "Memory usage: 131.9 MB"),
    ("usage", '{"cpu_usage": 12.5%}', '{"cpu_usage": 3%}'),
    ("usage", "free=12GB", "free=9GB"),
    ("timestamp", "time.monotonic() = 12345.678901", "time.monotonic() = 98.765432"),
    ("timestamp", "perf_counter_ns: 123456789012", "perf_counter_ns: 998877665544"),
    ("timestamp", "[    0.512345] usb 1-1: new device", "[   12.004321] usb 1-1: new device"),
    ("timestamp", "client 4.2.1 (build-2026.11.25.3)", "client 4.2.1 (build-2027.1.4.12)"),
    ("timestamp", "about an hour ago", "less than a minute ago"),
    ("timestamp", "just now, 3m ago, a few seconds ago", "2 hours ago, 2h ago, just now"),
    ("timestamp", "vor 3 Minuten, il y a 2 heures, hace 1 día", "vor einer Stunde, il y a une heure, hace 9 horas"),
    ("timestamp", "更新: 3分前, 2小时前", "更新: 1時間前, 5分钟前"),
    ("timestamp", "the file is 3 days old", "the file is 40 minutes old"),
    (
        "timestamp",
        "Mittwoch, der 25. November 2026, heute ist Freitag",
        "Sonntag, der 4. Januar 2027, heute ist Montag",
    ),
    ("timestamp", "le mercredi 25 novembre 2026", "le lundi 4 janvier 2027"),
    ("timestamp", "Hoy es miércoles, 25 de noviembre de 2026", "Hoy es lunes, 4 de enero de 2027"),
    ("timestamp", "среда, 25 ноября 2026", "понедельник, 4 января 2027"),
    ("timestamp", "25 listopada 2026, 25 Kasım 2026", "4 stycznia 2027, 4 Ocak 2027"),
    ("timestamp", "2026年11月25日（水）10時31分", "2027年1月4日（月）7時2分11秒"),
    ("timestamp", "2026年11月25日 星期三", "2027年1月4日 星期一"),
    ("timestamp", "datetime.datetime(2026, 11, 25, 10, 31)", "datetime.datetime(2027, 1, 4, 7, 2, 11, 98765)"),
    ("pid", "  48213 pts/0    python", "   1207 pts/0    python"),
    ("pid", "(node:48213) Warning", "(node:99) Warning"),
    ("host", "Linux 6.8.0-1017-azure x86_64", "Linux 6.11.0-1002-aws x86_64"),
    ("hex", "v1.2.3-14-g1a2b3c4, 1.2.3.dev14+g1a2b3c4", "v1.2.3-15-g9f8e7d6-dirty, 1.2.3.dev2+g9f8e7d6.d20261125"),
    ("hex", "in runs/agent-7f3a2c/src", "in runs/agent-b91d0e/src"),
    ("rate", "3.4 MB/s, 12.5 kB/s, 4.31it/s, 87 tokens/s", "12 MB/s, 900 B/s, 31.7it/s, 91.25 tokens/s"),
    ("usage", "Peak memory: 123.4 MiB, RSS: 45.2 MB", "Peak memory: 99 MiB, RSS: 47.9 MB"),
    ("user", "-rw-r--r-- 1 ana staff 1204 a.txt", "-rw-r--r-- 1 runner docker 1204 a.txt"),
    ("user", r"/home/ana/x, /Users/ana/x, C:\Users\ana\x", r"/home/bob.b/x, /Users/bob/x, C:\Users\bob\x"),
    ("number", "Session 912041615 of user u-340273.", "Session 68546281 of user u-043031."),
]


@pytest.mark.parametrize(("name", "recorded", "given"), CASES)
def test_a_usual_value_has_a_name(name: str, recorded: str, given: str) -> None:
    assert names_for([Difference("/x", "changed", recorded, given)]) == [name]


def test_a_process_behind_a_time_and_before_a_level_has_a_name() -> None:
    line = Difference("/x", "changed", "11:43:13,412 [140231] INFO up", "11:43:14,008 [98] INFO up")
    assert names_for([line]) == ["timestamp", "pid"]


def test_a_change_of_the_prompt_has_no_name() -> None:
    date = Difference("/x", "changed", "at 11:43", "at 12:01")
    assert names_for([date, Difference("/y", "changed", "Be brief.", "Be short.")]) == []
    assert names_for([date, Difference("/y", "added", given="x")]) == []
    for model in (("GPT-4-Turbo-Preview", "GPT-4-Vision-Preview"), ("Claude-Sonnet-4", "Claude-Opus-4-5")):
        assert names_for([date, Difference("/y", "changed", *model)]) == []
    assert names_for([date, Difference("/y", "changed", "up to 100000 tokens", "up to 200000 tokens")]) == []
    assert names_for([]) == []


MEANT: list[tuple[str, str]] = [
    ("top 10 films of 2024", "top 20 books of 2025"),
    ("in May", "in June"),
    ("in Q1 sell", "in Q2 sell"),
    ("the year 2026", "the year 2027"),
    ("book the month of May", "book the month of June"),
    ("commit everything", "commit acceded"),
    ("order 1234567", "order acceded"),
    ("wait 3 days", "wait 5 days"),
    ("Rome 1/2/3", "Rome 1/2/4"),
    ("A::B::C", "A::B::D"),
    ("mixed 1:2:3:4", "mixed 1:2:3:5"),
    ("read a.local.txt", "read b.local.txt"),
    ("read a-1.local.json", "read a-2.local.json"),
    ("ask foo.internal", "ask bar.internal"),
    ("ask db-primary.internal", "ask db-replica.internal"),
    ("the 3 am rule", "the 4 am rule"),
    ("every Monday", "every Friday"),
    ("answer in UTC", "answer in GMT"),
    ("convert to Europe/Berlin", "convert to Europe/Paris"),
    ("Mark 5 is fine", "Mark 6 is fine"),
    ("Maybe 3 words", "Maybe 5 words"),
    ("Decimal 2", "Decimal 3"),
    ("use port 8080", "use port 9090"),
    ("11:43:13 GET /a", "11:43:14 PUT /a"),
    ("11:43:13 INFO ready", "11:43:14 WARN ready"),
    ("11:43:13 [3] items", "11:43:14 [4] items"),
    ("limit 10 MB", "limit 20 MB"),
    ("memory limit 10 MB", "memory limit 20 MB"),
    ("at 80% CPU", "at 90% CPU"),
    ("clock 12", "clock 24"),
    ("at 48.856613, 2.352222", "at 52.520007, 13.404954"),
    ("[0.5, 1.25]", "[0.5, 1.75]"),
    ("up to 5 users", "up to 7 users"),
    ("session user-settings", "session user-profile"),
    ("deployment step-two-3", "deployment step-two-4"),
    ("workspace data-science-team", "workspace data-platform-team"),
    ("part A4B7C9D2", "part A4B7C9D3"),
    ("use SHA256WITHRSA", "use SHA512WITHRSA"),
    ("the price is 12.50", "the price is 13.50"),
    ("12,50 €, SKU 12.50.1234", "13,50 €, SKU 13.50.1234"),
    ("my son is 3 years old", "my son is 5 years old"),
    ("the top 10 agents 2026", "the top 12 agents 2026"),
    ("wind 12 km/h", "wind 25 km/h"),
    ("the sum is 3.3333333333333335", "the sum is 6.666666666666667"),
    ("jeden Montag um acht, mardi gras", "jeden Dienstag um acht, lundi gras"),
    ("user: ana", "user: bob"),
    ("read /home/ana/a.py", "read /home/ana/b.py"),
    ("-rw-r--r-- 1 ana staff 1204 a.txt", "-rw-r--r-- 1 ana staff 2408 a.txt"),
    ("use python 3.12", "use python 3.13"),
    ("5 passed in 0.34s", "4 passed, 1 failed in 0.34s"),
    ("[1] 42", "[1] 43"),
    ("call 030 1234-5678", "call 030 1234-5679"),
    ("color #ff0000", "color #00ff00"),
]


@pytest.mark.parametrize(("recorded", "given"), MEANT)
def test_a_change_that_is_meant_has_no_name(recorded: str, given: str) -> None:
    assert names_for([Difference("/x", "changed", recorded, given)]) == []


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ("Answer within 30 seconds.", "Answer within 60 seconds."),
        ("Summarise the Q3 2026 report.", "Summarise the Q2 2026 report."),
        ("The deadline is 2026-11-30.", "The deadline is 2026-12-15."),
        ("The year is 2026.", "The year is 2027."),
        ("Send the mail on Friday.", "Send the mail on Monday."),
        ("Connect to 10.0.0.5", "Connect to 10.0.0.6"),
        ("Order 123456", "Order 654321"),
        ("At 2026-11-22 11:43:13\nwait 30s", "At 2027-01-04 01:02:03\nwait 60s"),
    ],
)
def test_a_value_that_a_person_could_have_written_may_be_meant(recorded: str, given: str) -> None:
    request = request_of(given)
    with pytest.raises(ReplayMiss) as caught:
        Player([trip(recorded)]).answer("POST", request.url, (), request.body)
    assert may_be_meant([Difference("/x", "changed", recorded, given)])
    assert "record again if the change is intended; everything that differs may be new in each run" in str(caught.value)


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ("2024/03/07 21:10:16 [notice] start worker 29", "2024/04/11 05:02:44 [notice] start worker 37"),
        ("Today is Monday.", "Today is Friday."),
        ("The current month is May.", "The current month is June."),
        ("took 1.23s", "took 0.4s"),
        ("PID: 4123", "PID: 99"),
        ("wait 30s\nid 8ac15262-1111-4222-8333-444455556666", "wait 30s\nid 674bfc25-1111-4222-8333-444455556666"),
    ],
)
def test_what_only_a_machine_writes_is_not_meant(recorded: str, given: str) -> None:
    assert not may_be_meant([Difference("/x", "changed", recorded, given)])


def test_all_names_that_are_needed_are_given() -> None:
    pairs = (CASES[0], CASES[2])
    assert names_for([Difference("/x", "changed", one, other) for _, one, other in pairs]) == ["uuid", "timestamp"]


def trip(text: str) -> RoundTrip:
    return RoundTrip(request_of(text), Response(200, content=b"{}"), started_at=1.0)


def request_of(text: str) -> Request:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    return Request("POST", "https://api.openai.com/v1/chat/completions", content=body)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("unit", ["ab-", "a1b2-", "1.", "1 ", " ", "a.", "/home/", "\n", "- ", "a1", "20", "::"])
def test_a_long_line_does_not_take_long(name: str, unit: str) -> None:
    assert re.sub(NAMED[name], "", unit * (20_000 // len(unit))) is not None


@pytest.mark.parametrize(("name", "recorded", "given"), CASES)
def test_a_name_in_ignore_text_answers_the_request(name: str, recorded: str, given: str) -> None:
    asked = request_of(given)
    with pytest.raises(ReplayMiss) as caught:
        Player([trip(recorded)], matching=Matching(map_values=False)).answer("POST", asked.url, (), asked.body)
    assert f'@pytest.mark.turntape(ignore_text=["{name}"])' in str(caught.value)

    Player([trip(recorded)], matching=Matching(ignore_text=(name,))).answer("POST", asked.url, (), asked.body)
    assert NAMED[name] in Matching(ignore_text=(name,)).ignore_text


def test_in_sequence_the_nth_request_gets_the_nth_answer() -> None:
    trips = [trip("a"), trip("b")]
    player = Player(trips, matching=Matching("sequence"))
    for text in ("other", "b"):
        asked = request_of(text)
        assert player.answer("POST", asked.url, (), asked.body)
    asked = request_of("a")
    with pytest.raises(ReplayMiss, match="requested again"):
        player.answer("POST", asked.url, (), asked.body)
    report = player.report()
    assert len(report.tolerated) == 1
    assert report.reordered == ()
    assert [index for index, _ in enumerate(report.played)] == [0, 1]


def request_with(place: str, value: object) -> Request:
    """A request of Anthropic's API with a value in the prompt, a tool's arguments or a tool's result."""
    text = value if isinstance(value, str) else json.dumps(value)
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"at": value if place == "arguments" else "x"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": text if place == "result" else "x"}
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": text if place == "system" else "s",
        "messages": [
            {"role": "user", "content": text if place == "user" else "u"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
    }
    return Request("POST", "https://api.anthropic.com/v1/messages", content=json.dumps(body).encode())


USUAL: list[tuple[object, object]] = [
    ("id 8ac15262-1111-4222-8333-444455556666", "id 674bfc25-1111-4222-8333-444455556666"),
    ("at 1795337291", "at 1795999999"),
    ("at 1795337291649", "at 1795999999111"),
    (1795337291, 1795999999),
    (1795337291.25, 1795999999.5),
    ("it is 11:43:13", "it is 09:05:59"),
    ("on 2026-11-22T11:43:13Z", "on 2027-01-02T01:02:03.55Z"),
    ("am 22.11.2026", "am 1.2.2027"),
    ("on November 22, 2026", "on May 3, 2027"),
    ("in /tmp/tmpab12cd_9/out", "in /tmp/tmpzz98yx_1/out"),
    ("PID: 4123", "PID: 99"),
    ("at http://localhost:4123/x", "at http://localhost:51999/x"),
    ("took 1.23s", "took 0.4s"),
    ("<object at 0x7f001122>", "<object at 0x7fee0011>"),
    ("commit 3972013f", "commit 75dff44a"),
    ("on host ip-10-0-3-17", "on host ip-10-0-9-1"),
    ("from 10.0.3.17", "from 10.0.9.1"),
    ("attempt 3 of the job", "attempt 12 of the job"),
    ("session q3Xk9ZpL2a", "session m8Bd1QwR7t"),
]


@pytest.mark.parametrize(("recorded", "given"), USUAL, ids=str)
@pytest.mark.parametrize("place", ["system", "user", "arguments", "result"])
def test_a_usual_value_passes_automatically_or_with_the_line_of_the_message(
    place: str, recorded: object, given: object
) -> None:
    first, asked = request_with(place, recorded), request_with(place, given)
    trips = [RoundTrip(first, Response(200, content=b"{}"), started_at=1.0)]
    try:
        Player(trips).answer("POST", asked.url, (), asked.body)
    except ReplayMiss as miss:
        assert re.search("everything that differs (looks|may be) new in each run: ", str(miss))
        line = str(miss).rpartition("@pytest.mark.turntape")[2]
        arguments: dict[str, list[str]] = eval(f"dict{line}")
        matching = Matching(
            ignore=tuple(arguments.get("ignore", ())), ignore_text=tuple(arguments.get("ignore_text", ()))
        )
        Player(trips, matching=matching).answer("POST", asked.url, (), asked.body)


@pytest.mark.parametrize(("recorded", "given"), [(5, "5 lines"), ("5 lines", 5), (None, "a text"), ("a text", None)])
def test_a_change_of_type_does_not_count_as_meant(recorded: object, given: object) -> None:
    assert not may_be_meant([Difference("/a", "changed", recorded, given)])


PAGE = "".join(f"line {number} of a long page, which is always the same\n" for number in range(3_000))


@pytest.mark.parametrize(("name", "recorded", "given"), CASES)
@pytest.mark.parametrize("page", [f"{{0}}\n{PAGE}{{1}}", f"{PAGE}{{0}}\n{PAGE}"], ids=["at both ends", "within"])
def test_of_a_long_text_only_what_differs_is_searched(
    page: str, name: str, recorded: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    search = volatile_text._without

    def watched(names: list[str], text: str) -> str:
        sizes.append(len(text))
        return search(names, text)

    monkeypatch.setattr(volatile_text, "_without", watched)

    assert names_for([Difference("/x", "changed", page.format(recorded, recorded), page.format(given, given))]) == [
        name
    ]
    assert max(sizes) < 5_000 < len(page)


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        ("a", "b", ("a", "b")),
        ("", "b", ("", "b")),
        ("aa", "aaa", ("aa", "aaa")),
        (f"{PAGE}x", PAGE, None),
        (f"{PAGE}x\n{PAGE}", f"{PAGE}y\nz\n{PAGE}", None),
    ],
)
def test_what_is_left_of_two_texts_differs_as_they_do(one: str, other: str, left: tuple[str, str] | None) -> None:
    found = where_they_differ(one, other)

    assert found == left or left is None
    assert sum(map(len, found)) < 5_000
    assert len(found[0]) - len(found[1]) == len(one) - len(other)
