"""A bucket or a folder that holds recordings: `open_store("s3://bucket/prefix")`.

What a store can do is little: read an object or its end, write one if it does not exist or is still the one that was
read, list, delete. A store that ignores the condition overwrites. That is safe here, since names follow from content.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Literal

from turntape.cassettes.frozen import frozen

from ..errors import NotAStore, StoreError, StoreUnreachable, explained, first_sentence
from ..libraries import obstore
from .place import as_url, checked, is_remote
from .profiles import endpoint, profile_options
from .variables import check, plain_variables

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_TAIL = 1 << 16
"""Bytes of a file that hold its footer, nearly always."""
_DELETED_AT_ONCE = 500
RETRIES = 6
"""How often a request is repeated that found a busy server or no answer, in at most a minute."""
AGAIN = (0.3, 1.5)
"""Seconds before a request is repeated that broke off. obstore does not repeat a write, because it cannot know that
ours may be done twice, nor a read of an object that was replaced meanwhile."""

type Written = Literal["written", "exists", "changed"]
"""`exists`: there was one already. `changed`: it is not the one that was read."""


@frozen
class StoredObject:
    """The name of an object and what its listing says."""

    name: str
    """Relative to the store."""
    size: int
    etag: str | None
    modified: datetime


@frozen
class Content:
    """The bytes of an object, or the end of them, and which version they are of."""

    data: bytes
    etag: str | None
    size: int
    """Of the whole object."""


class Store:
    """An opened store. Every method raises StoreError, or StoreUnreachable where a later attempt may succeed."""

    def __init__(self, address: str, objects: "ObjectStore") -> None:
        self.address = address
        """As the user wrote it, without a slash at its end."""
        self.objects = objects
        """For engines that read through obstore."""

    def get(self, name: str) -> Content | None:
        """An object; None when there is none."""
        return self._get(name, None)

    def tail(self, name: str, size: int = _TAIL) -> Content | None:
        """The last `size` bytes of an object; None when there is none."""
        return self._get(name, size)

    def part(self, name: str, start: int, end: int, etag: str | None) -> bytes | None:
        """The bytes of an object from `start` to `end`; None when it is gone or does not have this ETag."""
        from obstore.exceptions import BaseError, PreconditionError

        for wait in (*AGAIN, None):
            try:
                condition = {} if etag is None else {"if_match": etag}
                found = obstore().get(self.objects, name, options={"range": (start, end), **condition})
                data = bytes(found.bytes())
                return data if etag is None or found.meta["e_tag"] == etag else None
            except (FileNotFoundError, PreconditionError):
                return None
            except (BaseError, OSError) as exc:
                self._wait(exc, f"read {name}", wait)
        raise AssertionError("the last attempt returns or raises")

    def _get(self, name: str, suffix: int | None) -> Content | None:
        from obstore.exceptions import BaseError

        options = {"range": {"suffix": suffix}} if suffix is not None else {}
        for wait in (*AGAIN, None):
            try:
                found = obstore().get(self.objects, name, options=options)
                return Content(bytes(found.bytes()), found.meta["e_tag"], found.meta["size"])
            except FileNotFoundError as exc:
                if "NoSuchBucket" in str(exc):
                    raise explained(exc, self.address, f"read {name}") from exc
                return None
            except (BaseError, OSError) as exc:
                self._wait(exc, f"read {name}", wait)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, exc: Exception, what: str, wait: float | None) -> None:
        """Wait before the next attempt. Raises StoreError when there is none, or another one is of no use."""
        problem = explained(exc, self.address, what)
        if wait is None or not isinstance(problem, StoreUnreachable):
            raise problem from exc
        sleep(wait)

    def put(self, name: str, data: bytes, *, only_new: bool = False, instead_of: str | None = None) -> Written:
        """Write an object in one step.

        With `only_new` there must be none of that name; with `instead_of` the present one must have that ETag.
        """
        from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError, PreconditionError

        mode = "create" if only_new else {"e_tag": instead_of} if instead_of else "overwrite"
        for wait in (*AGAIN, None):
            try:
                obstore().put(self.objects, name, data, mode=mode, use_multipart=False)
                return "written"
            except (AlreadyExistsError, FileExistsError):
                return "exists"
            except PreconditionError:
                return "exists" if only_new else "changed"
            except (NotSupportedError, NotImplementedError):  # what obstore raises for a store without conditions
                return self.put(name, data)
            except (BaseError, OSError) as exc:
                self._wait(exc, f"write {name}", wait)
        raise AssertionError("the last attempt returns or raises")

    def listing(self, prefix: str) -> Iterator[StoredObject]:
        """The objects below a prefix, which is whole path segments."""
        from obstore.exceptions import BaseError

        try:
            for batch in obstore().list(self.objects, prefix):
                for meta in batch:
                    yield StoredObject(meta["path"], meta["size"], meta["e_tag"], meta["last_modified"])
        except FileNotFoundError as exc:
            if "NoSuchBucket" in str(exc):
                raise explained(exc, self.address, f"list {prefix}") from exc
        except (BaseError, OSError) as exc:
            raise explained(exc, self.address, f"list {prefix}") from exc

    def folders(self, prefix: str) -> list[str]:
        """The names of the folders directly below a prefix, such as `day=2026-11-22`."""
        from obstore.exceptions import BaseError

        try:
            found = obstore().list_with_delimiter(self.objects, prefix)
        except FileNotFoundError as exc:
            if "NoSuchBucket" in str(exc):
                raise explained(exc, self.address, f"list {prefix}") from exc
            return []
        except (BaseError, OSError) as exc:
            raise explained(exc, self.address, f"list {prefix}") from exc
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found["common_prefixes"])

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that does not exist is deleted already."""
        from obstore.exceptions import BaseError

        every = list(names)
        for start in range(0, len(every), _DELETED_AT_ONCE):
            some = every[start : start + _DELETED_AT_ONCE]
            try:
                obstore().delete(self.objects, some)
            except FileNotFoundError:
                self._delete_singly(some)
            except (BaseError, OSError) as exc:
                raise explained(exc, self.address, f"delete {some[0]}") from exc

    def _delete_singly(self, names: Iterable[str]) -> None:
        from obstore.exceptions import BaseError

        for name in names:
            try:
                obstore().delete(self.objects, name)
            except FileNotFoundError:
                continue
            except (BaseError, OSError) as exc:
                raise explained(exc, self.address, f"delete {name}") from exc


def open_store(address: str, *, create: bool = False) -> Store:
    """The store at `s3://…`, `gs://…`, `az://…` or in a folder.

    A folder must exist unless `create`. Raises NotAStore as `checked`, StoreError, NotInstalled without obstore.
    """
    obstore()
    plain = checked(address).rstrip("/") or address
    if is_remote(address):
        with plain_variables():
            return Store(plain, _remote(address))
    return Store(plain, _folder(address.removeprefix("file://"), create=create))


def open_to_look(address: str) -> Store:
    """As `open_store`, but a folder that does not exist yet is an empty store, which is not created."""
    if is_remote(checked(address)) or Path(address.removeprefix("file://")).exists():
        return open_store(address)
    return Store(address, obstore().store.MemoryStore())


def _folder(path: str, *, create: bool) -> "ObjectStore":
    from obstore.exceptions import BaseError
    from obstore.store import LocalStore

    if Path(path).is_file():
        raise StoreError(f"{path!r} is a file; a store is a folder or a bucket")
    if not create and not Path(path).is_dir():
        raise StoreError(f"there is no folder {path!r}; ship recordings to it first, or check the name")
    try:
        if create and not Path(path).exists():  # a folder that exists is shared as its owner wants
            Path(path).mkdir(mode=0o700, parents=True)
        return LocalStore(Path(path).absolute())
    except (BaseError, OSError) as exc:
        raise StoreError(f"cannot use the folder {path!r} as a store: {exc}") from exc


def _remote(address: str) -> "ObjectStore":
    from obstore.exceptions import BaseError

    options: dict[str, str] = {}
    if address.startswith("s3"):
        options = profile_options()
        named = endpoint() or options.get("endpoint_url")
        if named:
            options["endpoint_url"] = named
        if named is None and not os.environ.get("AWS_REGION") and not os.environ.get("AWS_DEFAULT_REGION"):
            options.setdefault("region", "us-east-1")
        check(options)
        plain_http = bool(named) and str(named).startswith("http://")
    else:
        plain_http = os.environ.get("STORAGE_EMULATOR_HOST", "").startswith("http://")
    try:
        return obstore().store.from_url(
            as_url(address),
            config=options,
            client_options={
                "connect_timeout": timedelta(seconds=5),
                "timeout": timedelta(seconds=60),
                "allow_http": plain_http,
            },
            retry_config={
                "max_retries": RETRIES,
                "backoff": {
                    "init_backoff": timedelta(milliseconds=100),
                    "max_backoff": timedelta(seconds=3),
                    "base": 2,
                },
                "retry_timeout": timedelta(seconds=60),
            },
        )
    except (BaseError, ValueError) as exc:
        if "Account must be specified" in str(exc):
            raise StoreError(
                f"no storage account for {address!r} was found; set AZURE_STORAGE_ACCOUNT_NAME and "
                "AZURE_STORAGE_ACCOUNT_KEY"
            ) from exc
        if "Missing" in str(exc):  # half of a pair of keys
            raise explained(exc, address, "open it") from exc
        raise NotAStore(
            f"{address!r} is not a store: {first_sentence(exc)}; give s3://BUCKET/PREFIX, gs://…, az://… or a folder"
        ) from exc
