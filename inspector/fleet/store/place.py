"""The address of a store as a user writes it: `s3://BUCKET/PREFIX`, `gs://…`, `az://…` or a folder."""

from urllib.parse import quote

from turntape.cassettes.regex import regex

from ..errors import NotAStore

SCHEMES = ("s3://", "s3a://", "gs://", "az://", "azure://", "abfs://", "abfss://", "file://")
_GIVE = "give s3://BUCKET/PREFIX, gs://…, az://… or a folder"
_ALMOST = regex(r"(?:s3a?|gs|az|azure|abfss?|file):(?!//)")


def is_remote(address: str) -> bool:
    """True for the address of a bucket, false for a folder."""
    return address.startswith(SCHEMES) and not address.startswith("file://")


def checked(address: str) -> str:
    """The address itself. Raises NotAStore for one that no store can have; whether there is one is not looked up."""
    scheme, found, rest = address.partition("://")
    bucket, _, path = rest.partition("/")
    is_folder = not found or scheme == "file"
    if not address or _ALMOST.match(address) or (found and (f"{scheme}://" not in SCHEMES or not rest.strip("/"))):
        raise NotAStore(f"{address!r} is not a store; {_GIVE}")
    if is_folder:
        return address
    if not bucket:
        raise NotAStore(f"{address!r} names no bucket; {_GIVE}")
    if "@" in bucket and not scheme.startswith("abfs"):
        raise NotAStore(
            f"the address of a store has no user and no password, but that of {bucket.rpartition('@')[2]!r} has; "
            "give them in the environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise NotAStore(f"{address!r} is not a store: its path has a '.' or '..'; {_GIVE}")
    return address


def as_url(address: str) -> str:
    """The address of a bucket as a URL whose path is taken literally: `#`, `?` and `%` are characters of the prefix."""
    scheme, found, rest = address.partition("://")
    bucket, slash, path = rest.partition("/")
    return scheme + found + bucket + slash + quote(path, safe="/")
