"""What a cassette says of itself, by the names of vcrpy."""

from vcr_recordings import URL, ask

from turntape.cassettes import vcr


def test_a_cassette_has_what_was_recorded() -> None:
    with vcr.use_cassette("a.json") as cassette:
        first, answer = cassette.data[0]
        assert (first.method, first.uri, first.body) == ("POST", URL, b'{"a": 1, "b": 2}')
        assert answer["status"] == {"code": 200, "message": "OK"}
        assert answer["headers"]["content-type"] == ["text/plain"] and answer["body"] == {"string": b"one"}
        assert [request.uri for request in cassette.requests] == [request.uri for request, _ in cassette.data]
        assert [found["body"]["string"] for found in cassette.responses] == [b"one", b"two", b"other", b"page"]
        assert len(cassette) == len(cassette.data) == 4


def test_a_cassette_counts_what_was_played() -> None:
    with vcr.use_cassette("a.json", allow_playback_repeats=True) as cassette:
        assert (cassette.play_count, cassette.play_counts, cassette.all_played) == (0, {}, False)
        ask(url=f"{URL}?kind=x")
        assert (cassette.play_count, cassette.play_counts) == (1, {2: 1})
        for _ in range(3):
            ask()
        assert cassette.play_counts == {0: 2, 1: 1, 2: 1}
        cassette.rewind()
        assert (cassette.play_count, ask()) == (0, "one")


def test_a_cassette_knows_its_mode() -> None:
    with vcr.use_cassette("a.json") as played:
        assert (played.record_mode, played.write_protected, played.rewound, played.dirty) == ("once", True, True, False)
        assert played.record_mode is vcr.RecordMode.ONCE is vcr.mode.ONCE
        assert played.allow_playback_repeats is False
    with vcr.use_cassette("a.json", record_mode="new_episodes") as more:
        assert (more.record_mode, more.write_protected, more.rewound) == ("new_episodes", False, True)
    with vcr.use_cassette("none.json", record_mode=vcr.mode.ANY) as empty:
        assert (empty.record_mode, empty.rewound, len(empty), empty.data) == ("new_episodes", False, 0, [])
