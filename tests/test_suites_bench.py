"""The comparison of two runs of a foreign suite."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.suites.results import Result, compare, read

REPORT = """<testsuites><testsuite>
<testcase classname="t" name="a"/>
<testcase classname="t" name="b"><skipped/></testcase>
<testcase classname="t" name="c"><failure message="AssertionError">x
turntape: no recorded round trip answers POST /x
more</failure></testcase>
<testcase classname="t" name="d"/>
<testcase classname="t" name="d"><error message="teardown"/></testcase>
</testsuite></testsuites>"""


def test_a_report_is_read_by_test(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(REPORT)
    assert read(tmp_path / "r.xml") == {
        "t::a": Result("passed"),
        "t::b": Result("skipped"),
        "t::c": Result("failed", "turntape: no recorded round trip answers POST /x"),
        "t::d": Result("failed", "teardown"),
    }


def test_a_suite_that_cannot_be_collected_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^pytest ran no test and wrote no '.*r\.xml'; the log beside it says why$"):
        read(tmp_path / "r.xml")


def test_only_tests_that_passed_before_count() -> None:
    ok, bad = Result("passed"), Result("failed", "why")
    found = compare({"a": ok, "b": ok, "c": bad, "d": bad, "e": ok}, {"a": ok, "b": bad, "c": ok, "d": bad})
    assert (found.passed_before, found.gained) == (3, 1)
    assert found.lost == {"b": "why", "e": "it was not run"}
    assert round(found.share, 2) == 0.33
