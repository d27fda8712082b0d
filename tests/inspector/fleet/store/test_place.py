"""What the address of a store may be, without looking whether there is one."""

import pytest

from turntape.inspector.fleet.store.place import as_url, checked, is_remote


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("s3://tapes", True),
        ("s3://tapes/a.b/..c/x", True),
        ("abfs://container@account.dfs.core.windows.net/x", True),
        ("file:///srv/tapes", False),
        ("../tapes", False),
        ("a@b/c", False),
    ],
)
def test_buckets_and_folders_are_places(address: str, remote: bool) -> None:
    assert checked(address) == address
    assert is_remote(address) == remote


def test_the_path_of_a_url_is_escaped_and_its_host_is_not() -> None:
    assert as_url("s3://tapes") == "s3://tapes"
    assert as_url("abfs://c@a.net/x y") == "abfs://c@a.net/x%20y"
    assert as_url("s3://tapes/a#b?c%20d") == "s3://tapes/a%23b%3Fc%2520d"
