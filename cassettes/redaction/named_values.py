"""Finds secrets in a body by the name before them: `"api_key": "…"`, `DB_PASSWORD=…`, `Authorization: Bearer …`.

A name alone proves nothing: documentation, schemas and source code are full of such names. So the value decides. It
must look random, and must not be a placeholder, a word, or an expression of source code.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from ..regex import regex
from .body_search import Spans
from .service_names import SERVICES

_ROOTS = (
    b"key",
    b"token",
    b"secret",
    b"passw",
    b"passphrase",
    b"pwd",
    b"credential",
    b"auth",
    b"_pat",
    b"sig=",
    b"session=",
    b"sonar",
)
"""What a name contains, in lower case."""
_BEARER = b"bearer "
_IN_A_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_LONGEST_NAME = 48
_ESCAPE_BEFORE = regex(rb"(?:\\[nrtbf]|\\u00[01][0-9a-fA-F]|\\x[01][0-9a-fA-F]|%[0-2][0-9a-fA-F]|\[[0-9;]{1,16}m)")
"""A line end, a space or a colour as JSON, a program or a URL writes it, which no name begins with."""
_WORD_BEFORE = regex(rb"(?:\b|\\[nrtbf])(api|access|secret|private) \Z", re.IGNORECASE)
_LONGEST_WORD = len(b"\\nprivate ")
_OWNER_BEFORE = regex(rb"\b[A-Za-z][A-Za-z0-9]{2,20} \Z")
_LONGEST_OWNER = 22
"""Whose key it is, as in `Mailchimp key: …`."""
_OWNED = (b"key", b"token", b"secret")
"""The names that may have an owner before them."""
_AFTER = regex(
    rb"(?P<name>[A-Za-z0-9_.-]{0,48})(?:\\{0,7}[\"'`]\]?)?(?::?[ ]{0,2}(?:str|string|&str)(?=[ ]{0,2}=))?"
    rb"(?P<between>[ \t]{0,8}(?::=|=>|[:=|])[ \t]{0,32}|[ \t]is:?[ \t]|(?:[ \t]-[ \t]|"
    rb"[ \t]?,[ \t]?(?:\\{0,7}[\"'](?=\\{0,7}[\"']))?)(?=\\{0,7}[\"'`])|[ \t])(?P<open>\\{0,7}[\"'`])?"
    rb"(?:(?:Bearer|Basic|Token|Bot|ApiKey|Key)[ \t]+)?",
    re.IGNORECASE,
)
"""The rest of a name, and what is between it and its value."""
_LOOSE = (b"is", b"is:", b"-", b",", b"|")
"""What may be between a name and its value in prose, a call or a table. Other words follow there too."""
_PAIR = regex(
    rb"(?P<name>[A-Za-z0-9_.-]{0,48})\\{0,7}[\"'],?(?:\s|\\{1,7}[nrt]){0,16}(?:(?:\\{0,7}[\"'])?value(?:\\{0,7}[\"'])?"
    rb"\s{0,2}[:=]\s{0,2}|\{[^{}\"']{0,120}?default[ \t]{1,20}=[ \t]{1,4})\\{0,7}(?P<open>[\"'])"
    rb"(?:(?:Bearer|Basic|Token)[ ])?",
    re.IGNORECASE,
)
"""`{"name": "API_KEY", "value": "…"}`, `<add key="Password" value="…"/>` or `variable "api_token" { default = "…" }`,
from the name to the value."""
_ELEMENT = regex(rb"(?P<name>[A-Za-z0-9_.-]{0,48})(?:>|&gt;)(?=(?P<value>[^<>&\s]{4,400})(?:<|&lt;)/)")
"""`<password>…</password>`, from the name to the value."""
_PART = regex(
    rb"(?P<name>[A-Za-z0-9_.-]{0,48})\"(?:\r?\n[A-Za-z-]{1,40}:[^\r\n]{0,200}){0,3}\r?\n\r?\n"
    rb"(?=(?P<value>[^\r\n]{4,400})\r?\n--)"
)
"""A field of a multipart form, from its name to its value."""
_FIELD_OF_FORM = (b' name="', b';name="')
_COOKIE = regex(
    rb"cookie\\{0,7}[\"']?:[ \t]{0,3}\\{0,7}[\"']?"
    rb"((?:[^\s=;\"'\\]{1,80}=[^\s;\"'\\]{0,2000}+(?:;[ ]?|(?![^\s;\"'\\]))){1,64})"
)
"""A line of cookies, in lower case."""
_COOKIES = regex(rb"[^\s=;]{1,80}=([^\s;()\[\]{},]{16,4000})")
_LOGIN = regex(rb"curl\b[^\r\n]{0,400}?[ ](?:-u|--user)[ =](?:\\{0,7}[\"'])?[^\s:\"'\\]{1,64}:([^\s\"'\\$<{]{4,128})")
_LETTERS = rb"(?:[A-Za-z0-9_+/.~!@#$%^*:|?-]|\\/|\\u00[2-7][0-9a-fA-F])++"
_VALUE = regex(rb"(?!=)(?:" + _LETTERS + rb"=+(?=[A-Za-z0-9_+/-])){0,3}" + _LETTERS + rb"={0,3}")
_QUOTED = {
    quote: regex(rb"(?![\"'`])(?:[^\\\s" + quote + rb"]|\\/|\\u00[2-7][0-9a-fA-F])+(?<![\"'`])")
    for quote in (b'"', b"'", b"`")
}
"""A value, by the sign around it. The other two may be in it, but not at its ends, where source code joins texts."""
_MOST = 4096
"""A longer value is a document."""

_PASSWORD = regex(r"(?:passw(?:or)?d|passphrase|pwd|pass)$")
_KEY = regex(
    r"(?:api|access|secret|private|account|auth|signing|encryption|master|shared|sharedaccess|service|servicerole|"
    r"subscription|functions|license|webhook) ?key(?:id)?$"
)
_CREDENTIAL = regex(r"(?:credentials?|authorization|(?:^|[-_.])auth)$", re.IGNORECASE)
_TOKEN = regex(
    r"(?:access|refresh|auth|api|bot|session|bearer|security|private|personal|deploy|csrf|xsrf|user|app|client|oauth|"
    r"github|gitlab|slack|hf|npm|jwt|account|service|id|registry|vault|admin|webhook|verification|pat|secret|web)token$|"
    r"sonarlogin$"
)
_ACCESS = regex(r"[A-Za-z]_pat$", re.IGNORECASE)
"""A personal access token, as in `AZURE_DEVOPS_PAT`."""
_SECRET = regex(
    r"(?:client|app|application|api|consumer|shared|oauth|auth|webhook|signing|jwt|session|cookie|user|bot|account)secret$"
)
_OTHER_TOKEN = regex(
    r"(?:^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))(?i:(?:(?:page|continuation|sync|next|pagination|stop|eos|bos|pad|unk|mask|cls|"
    r"sep|cancel|cancellation|special|first|last|max|min|start|end|skip|after|before|delta|resume|cursor|reset)"
    r"[-_. ]?){1,3}token)[0-9]*$"
)
"""Tokens of a page or of a vocabulary; not that of a service or a program such as `backend`."""

_OTHER_KEY = regex(
    r"(?:^|the|this|that|each|same|given|with|default|next|last|first|new|old|public|pub|primary|foreign|sort|partition|cache|object|storage|idempotency|dedupe|deduplication|group|"
    r"index|row|column|field|hash|range|map|dict|json|metadata|item|unique|composite|natural|surrogate|candidate|lookup|"
    r"translation|message|i18n|locale|hot|shortcut|shard|routing|registry|environment|env|config|setting|feature|flag|"
    r"state|query|react|list|node|parent|child|root|record|entity|event|job|task|issue|project|asset|file|path|blob|"
    r"upload|image|s3|(?<!bit)bucket|prefix|version|commit|build|content|chunk|block|digest|checksum|etag|finger|thread|"
    r"conversation|prompt|tool|call|trace|span|log|stream|page|cursor|sequence|order|ssh|host|known|gpg|pgp|verify|"
    r"verification|verifier|tmp|temp|answer)keys?$"
)
"""Keys of a table, a cache or a map, and public ones."""

_PLACEHOLDER = regex(
    r"REDACT|[*x.\-_•#]{4,}|(?:your|my|the|some|any|example|sample|fake|dummy|test|changeme|change|placeholder|insert|replace|"
    r"enter|none|null|true|false|undefined|string|secret|password|token|key|api|env|os|process|config|settings|self|this|"
    r"get|set|input|args|params|options|request|response|data|value|abc123|foo|bar)(?![a-z0-9])",
    re.IGNORECASE,
)
"""How a value begins that is written in place of a secret."""
_PREFIX = regex(r"(?:secret|token|key|api|test)[-_](?:(?:live|prod|test)[-_])?", re.IGNORECASE)
"""A word that begins what is written in place of a secret, but also keys of some services."""
_LEAST_AFTER_PREFIX = 20
_OPENING = regex(r"[<{$%(\[.]")
"""How a template begins, but also one in fourteen passwords that a program made."""
_ODD = regex("[<>\"'`]")
"""What is in a tag or around a text, but also in such a password."""
_TEMPLATE = regex(
    r"\$\{|\$\(|\$\$|%\(|\{\{|\{%|<%|</|<[A-Za-z!?][^<>]{2,}>|\{[A-Za-z_][\w.:-]*\}|\[[A-Za-z_ -]*\]|%[A-Za-z_]\w*%|"
    r"^[$%.][A-Za-z_][\w.\[\]-]*$|^[({\[<].*[)}\]>]$|^%[-+0-9.]*[A-Za-z]$"
)
"""Where a program puts something in, and a variable."""
_PATH = regex(r"[/~.]|[A-Za-z]:[\\\\/]")
"""How a path begins: `pwd` prints one."""
_EXPRESSION = regex(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+|[A-Z]+(?:_[A-Z0-9]+)+|_*+(?:(?:[A-Z]{2,}+|[A-Z]?[a-z]{2,}+)[0-9]?_?)++|"
    r"[A-Za-z]+"
)
"""A word, a variable, or a field of an object. Each row of letters can be read in one way alone: in several, the time
would double with each letter."""
_WORDS = regex(r"[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?[0-9]{0,2}|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""Words, as a text in quotes has them."""
_PARTED_WORDS = regex(r"[_-]*+(?:(?:[A-Z]++|[a-z]{2,}+)[0-9]{0,4}+[_-]*+)++")
"""Words with hyphens or underscores between them, each with a large first letter or none, or all in large letters."""
_LONG, _LEAST_PART = 24, 0.3
"""Characters; the part of large letters among all letters. `getServerSessionOfUser2` has a sixth."""
_SHORTEST, _TURNS = 12, 6
"""Characters; in how many of them the kind of character changes once at least."""
_DIGITS = regex(r"[0-9]+")
_NO_WORD = 4
"""A word or a variable has fewer numbers in it."""
_FIELD = regex(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
"""A field of an object, or a name in a module."""
_SEPARATOR = regex(r"[-_.~+/=:]")
_KINDS = str.maketrans(
    "0123456789" + "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "9" * 10 + "a" * 26 + "A" * 26
)
_UUID = regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OF_SERVICE = regex(rf"(?:^|[_.-])(?:{SERVICES.decode()})", re.IGNORECASE)
_URL = regex(r"[A-Za-z][A-Za-z0-9+.-]*://")


def named(body: bytes) -> Spans:
    """All secrets that are known by the name before them."""
    spans: Spans = {}
    lower = body.lower()
    for root in _ROOTS:
        at = lower.find(root)
        while at >= 0:
            start, end = _value(body, at, root)
            if end > start:
                spans.setdefault(start, (end, 0))
            at = lower.find(root, max(at + len(root), end))
    at = lower.find(_BEARER)
    while at >= 0:
        at += len(_BEARER)
        start, end = _judged(body, at, "bearer token", assigned=False)
        if end > start:
            spans.setdefault(start, (end, 0))
        at = lower.find(_BEARER, end)
    for start, end in (*_cookies(body, lower), *_logins(body, lower)):
        spans.setdefault(start, (end, 0))
    return spans


def _cookies(body: bytes, lower: bytes) -> Iterator[tuple[int, int]]:
    """The values in a line `Cookie: …` or `Set-Cookie: …`."""
    at = lower.find(b"cookie")
    while at >= 0:
        line = _COOKIE.match(lower, at)
        for cookie in _COOKIES.finditer(body, *line.span(1)) if line is not None else ():
            if _is_secret("session_token", cookie[1]):
                yield cookie.span(1)
        at = lower.find(b"cookie", line.end() if line is not None else at + 6)


def _logins(body: bytes, lower: bytes) -> Iterator[tuple[int, int]]:
    """The passwords in `curl -u name:password`."""
    at = lower.find(b"curl ")
    while at >= 0:
        login = _LOGIN.match(body, at)
        if login is not None and not _PLACEHOLDER.match(login[1].decode("latin-1")):
            yield login.span(1)
        at = lower.find(b"curl ", login.end() if login is not None else at + 5)


def _value(body: bytes, at: int, root: bytes) -> tuple[int, int]:
    """The span of the secret after the name at `at`; an empty one when there is none."""
    if root == b"sig=":
        signed = at > 0 and body[at - 1 : at] in (b"?", b"&")
        return _judged(body, at + len(root), "auth", assigned=True) if signed else (at, at)
    if root == b"session=":
        return _judged(body, at + len(root), "session_token", assigned=False)
    after = _AFTER.match(body, at)
    between = b" " if after is None else after["between"]
    apart = between == b" " or between[:1] == b","
    pair, element = (
        (_PAIR.match(body, at), _ELEMENT.match(body, at) or _PART.match(body, at)) if apart else (None, None)
    )
    found = pair or element or after
    if found is None:
        return at, at
    begin = _begin_of_name(body, at)
    if begin == at and root == found["name"].lower() in _OWNED:
        owner = _OWNER_BEFORE.search(body, max(at - _LONGEST_OWNER, 0), at)
        begin = at if owner is None else owner.start()
    name = (body[begin:at] + found["name"]).decode("latin-1")
    if found.re is _PART and body[begin - 7 : begin] not in _FIELD_OF_FORM:
        return at, at
    if pair is not None:
        return _judged(body, pair.end(), name, quote=pair["open"], assigned=False)
    if element is not None:
        return element.span("value") if _is_secret(name, element["value"]) else (at, at)
    assert after is not None
    option = name.startswith("--")
    if between.isspace() and not option:
        return at, at
    if between == b":" and body[begin - 1 : begin] == b":":
        return at, at  # a name within a longer one, as in `arn:aws:secretsmanager:…:secret:name`
    parameter = between == b"=" and body[max(begin - 1, 0) : begin] in (b"", b"?", b"&")
    loose = between.strip(b" \t\\\"'") in _LOOSE or (parameter and name == "key")
    if parameter and name == "key":
        name = "api_key"
    assigned = option or parameter or (name.upper() == name and between == b"=")
    start, end = _judged(body, after.end(), name, quote=(after["open"] or b"")[-1:], assigned=assigned)
    return (start, start) if loose and not _is_surely_random(body[start:end]) else (start, end)


def _begin_of_name(body: bytes, at: int) -> int:
    """Where the name begins that continues at `at`, with the word of two in front of it, as in `API key`."""
    before = body[max(at - _LONGEST_NAME, 0) : at]
    begin = at - len(before) + len(before.rstrip(_IN_A_NAME))
    while (escape := _ESCAPE_BEFORE.match(body, max(begin - 1, 0), at)) is not None:
        begin = escape.end()
    if body[begin - 1 : begin] != b" ":
        return begin
    word = _WORD_BEFORE.search(body, max(begin - _LONGEST_WORD, 0), begin)
    return begin if word is None else word.start(1)


def _judged(body: bytes, start: int, name: str, *, quote: bytes = b"", assigned: bool) -> tuple[int, int]:
    """The span of the value at `start` if it is a secret; an empty one when it is not. `quote`: the sign before it."""
    quoted = quote != b""
    match = _QUOTED.get(quote, _VALUE).match(body, start, start + _MOST)
    if match is None or match.end() == start + _MOST:
        return start, start
    end = match.end()
    following = body[end : end + 1]
    if quoted and following.strip(b"\\" + quote):
        return start, start
    if not quoted:
        end = start + len(match.group().rstrip(b".,:;?|"))
        if following in (b"(", b"[", b"<", b"{"):
            return start, start
    value = body[start:end].decode("latin-1")
    return (start, end) if is_secret(name, value, quoted=quoted, assigned=assigned) else (start, start)


def _is_secret(name: str, value: bytes) -> bool:
    return is_secret(name, value.decode("latin-1"), quoted=True, assigned=False)


@lru_cache(maxsize=256)  # the events of a stream have the same names
def is_secret(name: str, value: str, *, quoted: bool, assigned: bool) -> bool:
    """Whether a value under this name is a secret.

    `quoted`: it is in quotes. `assigned`: it is given to a variable of a shell or to an option.
    """
    kind = name.replace("_", "").replace("-", "").replace(".", "").lower().rstrip("0123456789")
    if _is_placeholder(value) or _URL.match(value) or "..." in value or _is_template(value, quoted):
        return False
    mixed = any(map(_is_random_part, value.split("."))) if "." in value else _is_mixed(value)
    word = (
        not mixed
        and (_WORDS if quoted or assigned else _EXPRESSION).fullmatch(value) is not None
        and not (len(_DIGITS.findall(value)) >= _NO_WORD and is_generated(value))
    )
    if _PASSWORD.search(kind):
        path = kind.endswith("pwd") and _PATH.match(value) is not None
        return len(value) >= (6 if quoted or assigned else 8) and (quoted or assigned or not word) and not path
    if _KEY.search(kind) or _CREDENTIAL.search(name) or _TOKEN.search(kind) or _SECRET.search(kind):
        least = 10 if quoted or assigned else 16
    elif _ACCESS.search(name):
        least = 20
    elif kind.endswith(("token", "secret")) and not _OTHER_TOKEN.search(name) and not _is_plain_uuid(name, value):
        least = _SHORTEST if len(kind) > len("secret") and is_generated(value) else 16 if assigned else 20
    elif kind.endswith("key") and not _OTHER_KEY.search(kind.replace(" ", "")):
        return is_generated(value) and not _FIELD.fullmatch(value)
    else:
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    return len(value) >= least and not word and (mixed or digits > 0 and letters > 0 or digits >= 16)


def _is_placeholder(value: str) -> bool:
    """True for what is written in place of a secret, unless what follows its first word is random."""
    if _PLACEHOLDER.match(value) is None:
        return False
    prefix = _PREFIX.match(value)
    rest = value[prefix.end() :].rstrip("=") if prefix is not None else ""
    return len(rest) < _LEAST_AFTER_PREFIX or not (is_generated(rest) or _is_mixed(rest))


def _is_template(value: str, quoted: bool) -> bool:
    """True for what a program fills in. A password in quotes may have the same signs."""
    if not quoted:
        return _OPENING.match(value) is not None
    odd = _OPENING.match(value) is not None or _ODD.search(value) is not None
    return odd and (_TEMPLATE.search(value) is not None or not _has_four_kinds(value))


def _has_four_kinds(value: str) -> bool:
    """True for a value with digits, small letters, large letters and other signs."""
    return bool(set("9aA") <= set(value.translate(_KINDS))) and not value.isalnum()


def is_generated(value: str) -> bool:
    """True for a value that no person wrote: digits, small and large letters take turns in it."""
    own = _SEPARATOR.sub("", value)
    kinds = own.translate(_KINDS)
    turns = sum(one != other for one, other in pairwise(kinds))
    parted = len(value) - len(own) > 1 + len(value) // 10
    return (
        len(own) >= _SHORTEST
        and own.isascii()
        and own.isalnum()
        and kinds.strip("9") != ""
        and (len(_DIGITS.findall(own)) > 1 or (own == value and _is_mixed(value) and "9" in kinds))
        and turns * _TURNS >= len(own)
        and (not parted or _UUID.fullmatch(value) is not None)
    )


def is_random(value: bytes) -> bool:
    """True for a value that is a secret wherever it is: nobody chose it, and it has no meaning."""
    text = value.decode("latin-1")
    return is_generated(text) or _is_mixed(text) or (_has_four_kinds(text) and text.isascii())


def _is_surely_random(value: bytes) -> bool:
    """The same where a list of names or words may be."""
    text = value.decode("latin-1")
    return is_random(value) and (len(_DIGITS.findall(text)) >= _NO_WORD or _is_mixed(text) or _has_four_kinds(text))


def _is_plain_uuid(name: str, value: str) -> bool:
    """True for a UUID under a name that is not a variable of a shell and names no service: most of these are ids."""
    return _UUID.fullmatch(value) is not None and name != name.upper() and _OF_SERVICE.search(name) is None


def _is_random_part(value: str) -> bool:
    """True for a part of a key that is not a word or a name: some services part their keys by points."""
    return len(value) >= _LONG and (is_generated(value) or (_is_mixed(value) and not value.isalpha()))


def _is_mixed(value: str) -> bool:
    """True for a long row of letters and digits, large and small ones in equal parts: no word and no name has these.

    The alphabet of base64 for URLs has two signs too; what they part must not be words.
    """
    own = value.replace("-", "").replace("_", "")
    large = sum(char.isupper() for char in own)
    small = sum(char.islower() for char in own)
    if len(own) < _LONG or not own.isalnum() or not _LEAST_PART <= large / max(large + small, 1) <= 1 - _LEAST_PART:
        return False
    return own == value or _PARTED_WORDS.fullmatch(value) is None
