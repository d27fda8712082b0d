"""The repository holds what belongs to it: no recording, report or note that a tool left in it."""

import subprocess

import pytest
from house import ROOT

TOP = frozenset(
    [
        ".ci",
        ".github",
        ".gitignore",
        ".pre-commit-config.yaml",
        ".typing",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "MANIFEST.in",
        "Makefile",
        "README.md",
        "SECURITY.md",
        "bench",
        "cassettes",
        "docs",
        "inspector",
        "mkdocs.yml",
        "proxy",
        "public",
        "pyproject.toml",
        "setup.py",
        "tests",
        "uv.lock",
    ]
)
"""What is at the top. A new name is added here on purpose."""
LARGE = 200_000
"""Bytes. What is larger is in `LARGE_FILES`."""
LARGE_FILES = frozenset({"uv.lock"})


def committed() -> list[str]:
    """The paths that git knows. Skips where this is not a clone."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git clone")
    return [path for path in listed.stdout.decode().split("\0") if path]


def strange(paths: list[str]) -> list[str]:
    """The paths that do not belong into the repository."""
    return [
        path
        for path in paths
        if path.split("/")[0] not in TOP
        or (
            path.endswith((".cassette.jsonl", ".cassette.jsonl.zst", ".html"))
            and not path.startswith(("tests/", "docs/"))
        )
    ]


def test_nothing_strange_is_committed() -> None:
    assert strange(committed()) == []


@pytest.mark.parametrize(
    "path", ["deep.html", "run-20261122.cassette.jsonl", "proxy/a.cassette.jsonl", ".clients/runs/a.json", "notes.md"]
)
def test_a_planted_file_is_found(path: str) -> None:
    assert strange(["README.md", "proxy/cli/__main__.py", path]) == [path]


def test_no_large_file_is_committed() -> None:
    sizes = {path: (ROOT / path).stat().st_size for path in committed() if (ROOT / path).is_file()}
    assert {path for path, size in sizes.items() if size > LARGE} - LARGE_FILES == set()
