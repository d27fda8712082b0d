"""The options of `VCR` and `use_cassette`."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vcr_recordings import ask

from turntape.cassettes import TurntapeError, vcr
from turntape.cassettes.vcr.config import VCR


def test_a_suffix_is_added_where_it_is_missing() -> None:
    assert [VCR.ensure_suffix(".json")(name) for name in ("a", "a.json", "a.yaml")] == [
        "a.json",
        "a.json",
        "a.yaml.json",
    ]


def test_a_path_is_below_the_library_once(recorded: Path) -> None:
    (recorded / "tapes").mkdir()
    (recorded / "a.cassette.jsonl").rename(recorded / "tapes/a.cassette.jsonl")
    for path, options in (
        ("a.json", {"cassette_library_dir": "tapes"}),
        ("tapes/a.json", {"cassette_library_dir": "tapes"}),
        ("a", {"cassette_library_dir": Path("tapes"), "path_transformer": VCR.ensure_suffix(".json")}),
        (recorded / "tapes/a.json", {}),
    ):
        with VCR(**options).use_cassette(path) as cassette:
            assert len(cassette) == 4


def a() -> str:
    return ask()


def test_a_function_names_its_recording(recorded: Path) -> None:
    beside = VCR(path_transformer=lambda path: str(recorded / Path(path).name))
    for decorated in (
        VCR(cassette_library_dir=str(recorded)).use_cassette(a),
        VCR(func_path_generator=lambda function: f"{function.__name__}.json").use_cassette()(a),
        beside.use_cassette()(a),
    ):
        assert decorated() == "one"
    seen: list[str] = []
    VCR(path_transformer=lambda path: seen.append(path) or "a.json").use_cassette()(a)()
    assert seen == [str(Path(__file__).parent / "a")]


def test_a_bare_decorator_takes_options() -> None:
    def injected(cassette: vcr.Cassette, word: str) -> str:
        assert len(cassette) == 4
        return word

    my = VCR(func_path_generator=lambda _: "a.json")
    assert my.use_cassette(injected, inject_cassette=True)("x") == "x"


def test_defaults_are_read_when_the_recording_is_opened_unless_they_are_wanted_now() -> None:
    my = VCR(allow_playback_repeats=True)
    later, now = my.use_cassette("a.json"), my.use_cassette("a.json", with_current_defaults=True)
    my.allow_playback_repeats = False
    with later as cassette:
        assert not cassette.allow_playback_repeats
    with now as cassette:
        assert cassette.allow_playback_repeats


def both(asked: Any, recorded: Any) -> bool:
    return asked.body == recorded.body


@pytest.mark.parametrize(
    ("options", "answered"),
    [
        ({"match_on": "path"}, ["one", "two"]),
        ({"match_on": ("both",)}, []),
        ({"additional_matchers": ["both"]}, []),
        ({"match_on": ["path"], "additional_matchers": "method"}, ["one", "two"]),
        ({"before_record_response": [lambda answer: answer | {"body": {"string": "x"}}]}, ["x", "x"]),
        ({"before_record": lambda request: setattr(request, "body", b"x") or request}, ["one", "two"]),
    ],
)
def test_an_option_is_one_value_or_several(options: dict[str, Any], answered: list[str]) -> None:
    my = VCR(**options)
    my.register_matcher("both", both)
    my.register_serializer("mine", object())
    my.register_persister(object())
    with my.use_cassette("a.json", serializer="mine") as cassette:
        said = [ask("other"), ask("other")]
    assert cassette.play_count == len(answered)
    assert said == answered or all("no recorded round trip" in one for one in said)


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "127.0.0.1", "mine.test"])
def test_hosts_that_are_ignored(host: str) -> None:
    seen: list[str] = []
    options: dict[str, Any] = {"ignore_localhost": True, "ignore_hosts": ["mine.test"]}
    with VCR(**options, before_record_request=lambda one: seen.append(one.host) or one).use_cassette("a.json") as tape:
        with pytest.raises(Exception, match="connect|resolve|resolution|Name|refused|attempts"):
            ask(url=f"http://{host}:9/x")
        assert (tape.play_count, host in seen) == (0, False)


@pytest.mark.parametrize("make", [lambda: VCR(mach_on=()), lambda: vcr.use_cassette("a.json", mach_on=())])
def test_an_unknown_option_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"no option 'mach_on'; it knows path_transformer, .*, record_on_exception$"):
        make()


def test_an_unknown_matcher_is_refused() -> None:
    with pytest.raises(TurntapeError, match=r"register_matcher\('mine'"), VCR(match_on="mine").use_cassette("a.json"):
        pass


def test_names_that_need_no_import_of_their_own() -> None:
    asked = (
        "import turntape.cassettes.vcr as vcr; print(vcr.errors.UnhandledHTTPRequestError.__name__, vcr.default_vcr)"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said.startswith("CannotOverwriteExistingCassetteException <turntape.cassettes.vcr.config.VCR")


def test_use_cassette_has_the_default_settings() -> None:
    assert vcr.use_cassette.__self__ is vcr.default_vcr


@pytest.mark.parametrize(("name", "why"), [("stubs", "clients are answered"), ("serializers", "one format")])
def test_a_name_that_is_not_here_says_what_to_do_instead(name: str, why: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .*{why}"):
        getattr(vcr, name)
