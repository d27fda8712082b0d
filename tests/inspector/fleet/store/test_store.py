"""A store: objects are written on conditions, read, listed and deleted; a folder and a bucket alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from s3_server import BUCKET, S3, s3_server

from turntape.inspector.fleet.errors import NotAStore, StoreError, StoreUnreachable
from turntape.inspector.fleet.store.store import Store, open_store


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with s3_server() as running:
        yield running


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path, server: S3, monkeypatch: pytest.MonkeyPatch) -> Store:
    if request.param == "folder":
        return open_store(str(tmp_path / "store"), create=True)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return open_store(f"s3://{BUCKET}/{tmp_path.name}")


def test_an_object_is_read_as_it_was_written(store: Store) -> None:
    assert store.put("rows/v1/a", b"abc") == "written"

    found = store.get("rows/v1/a")
    end = store.tail("rows/v1/a", 2)

    assert found is not None
    assert (found.data, found.size) == (b"abc", 3)
    assert end is not None
    assert (end.data, end.size) == (b"bc", 3)
    assert store.get("rows/v1/b") is None


def test_a_new_object_does_not_replace_one(store: Store) -> None:
    assert store.put("a", b"1", only_new=True) == "written"

    assert store.put("a", b"2", only_new=True) == "exists"

    found = store.get("a")
    assert found is not None
    assert found.data == b"1"


def test_the_version_that_was_read_can_be_replaced(store: Store) -> None:
    store.put("a", b"1")
    found = store.get("a")
    assert found is not None

    assert store.put("a", b"2", instead_of=found.etag) == "written"


def test_a_version_that_is_gone_is_not_replaced(server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder has no such condition; there the last writer wins."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    store = open_store(f"s3://{BUCKET}/changed")
    store.put("a", b"1")

    assert store.put("a", b"2", instead_of='"0123"') == "changed"


def test_objects_are_listed_below_a_prefix(store: Store) -> None:
    store.put("rows/v1/day=2026-01-01/a", b"1")
    store.put("rows/v1/day=2026-01-02/b", b"22")

    assert {(one.name, one.size) for one in store.listing("rows/v1")} == {
        ("rows/v1/day=2026-01-01/a", 1),
        ("rows/v1/day=2026-01-02/b", 2),
    }
    assert store.folders("rows/v1") == ["day=2026-01-01", "day=2026-01-02"]
    assert not list(store.listing("table/v1"))
    assert store.folders("table/v1") == []


def test_deleting_what_is_not_there_succeeds(store: Store) -> None:
    store.put("a", b"1")

    store.delete(["b", "a", "c"])

    assert store.get("a") is None


@pytest.mark.parametrize("address", ["ftp://host/x", "s4://bucket", "s3://", "gs:///", "s3:/tapes/x", ""])
def test_the_address_of_anything_else_is_named(address: str) -> None:
    with pytest.raises(NotAStore, match=f"^'{address}' is not a store; give s3://BUCKET"):
        open_store(address)


def test_an_azure_store_needs_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)

    with pytest.raises(StoreError, match="^no storage account for 'az://c/x' was found; set AZURE_STORAGE_ACCOUNT_N"):
        open_store("az://c/x")


def test_a_missing_folder_is_an_error_unless_it_is_to_be_created(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        open_store(str(tmp_path / "none"))


@pytest.mark.parametrize("create", [True, False])
def test_a_store_in_a_file_is_an_error(create: bool, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()

    with pytest.raises(StoreError, match=r"a\.jsonl' is a file; a store is a folder or a bucket"):
        open_store(str(tmp_path / "a.jsonl"), create=create)


def test_a_folder_that_is_made_is_private_and_one_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)

    for name in ("new", "shared"):
        open_store(str(tmp_path / name), create=True).put("rows/v1/a", b"abc")

    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "shared")] == [0o700, 0o755]


def test_a_missing_bucket_is_named(server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    store = open_store("s3://no-such-bucket/x")

    for attempt in (lambda: store.put("a", b"1"), lambda: store.get("a"), lambda: list(store.listing("rows"))):
        with pytest.raises(StoreError, match="there is no bucket for 's3://no-such-bucket/x'; create it"):
            attempt()


def test_a_server_that_does_not_answer_is_unreachable(monkeypatch: pytest.MonkeyPatch, server: S3) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("turntape.inspector.fleet.store.store.RETRIES", 0)

    with pytest.raises(StoreUnreachable, match="'s3://tapes/x' cannot be reached; check the network"):
        open_store("s3://tapes/x").put("a", b"1")


def test_a_busy_server_is_asked_again(store: Store, server: S3) -> None:
    server.faults.refuse = lambda number, path: "before" if server.faults.puts.count(path) < 2 else "no"
    try:
        assert store.put("busy", b"1") == "written"
    finally:
        server.faults.refuse = lambda number, path: "no"


@pytest.mark.parametrize("prefix", ["a#b", "a?b=c", "a%20b", "pre fix/ü/日本"])
def test_a_prefix_is_taken_literally(prefix: str, server: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

    open_store(f"s3://{BUCKET}/{prefix}").put("literal", b"1")

    assert f"{prefix}/literal" in [one.name for one in open_store(f"s3://{BUCKET}").listing(prefix.partition("/")[0])]


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("s3:///x", "^'s3:///x' names no bucket"),
        ("s3://tapes/../x", "^'s3://tapes/../x' is not a store: its path has a '.' or '..'"),
        ("s3://user:hush@tapes/x", "^the address of a store has no user and no password, but that of 'tapes' has"),
    ],
)
def test_an_address_that_would_be_read_as_another_one_is_refused(address: str, problem: str) -> None:
    with pytest.raises(NotAStore, match=problem) as raised:
        open_store(address)
    assert "hush" not in str(raised.value)
