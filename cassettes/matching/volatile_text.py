"""Kinds of text that are new in each run, by name: `ignore_text=["uuid", "timestamp", "tmp"]`.

Nothing here is ignored automatically: a user names what may differ. A miss says which names would cover its
differences.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from types import MappingProxyType

from ..regex import regex
from .embedded_files import is_file
from .ignored_fields import MARK, UUID
from .json_diff import Difference

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_ELSEWHERE = (
    r"(?i:janv(?:ier|\.)|f[eé]vr(?:ier|\.)|mars|avr(?:il|\.)|mai|juin|juil(?:let|\.)|ao[uû]t|sept(?:embre|\.)|octobre|novembre|d[eé]c(?:embre|\.)"
    r"|januari?|jänner|februari?|märz|maart|april|mei|juni|juli|august(?:i|us)?|oktober|dezember"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre"
    r"|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    r"|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    r"|marts|maj|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia"
    r"|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık"
    r"|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|september|november|december|jan|gen|ene|feb|mär|mar|apr|abr|may|jun|jul|giu|lug|ago|aug|sep|set|okt|oct|ott|out|nov|de[czi])"
    r"(?!\w)\.?"
)
"""The months in other languages."""
_WEEKDAY_ELSEWHERE = (
    r"(?i:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo"
    r"|luned[iì]|marted[iì]|mercoled[iì]|gioved[iì]|venerd[iì]|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)-feira"
    r"|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
    r"|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье)"
)
_DATE_ELSEWHERE = (
    rf"(?:\b{_WEEKDAY_ELSEWHERE},?\s(?:(?:der|den|le|el|il)\s)?)?"
    rf"(?<![\d.,])\d\d?(?:\.|er|º)?\s(?:de\s)?{_ELSEWHERE}\s(?:de\s)?20\d\d\b"
    r"|(?<= )(?:(?<=[Hh]eute ist )|(?<=[Hh]oy es )|(?<=[Oo]ggi è )|(?<=[Hh]oje é )|(?<=ourd'hui )|(?<=ourd'hui, )"
    rf"|(?<=[Vv]andaag is )|(?<=[Сс]егодня )){_WEEKDAY_ELSEWHERE}\b"
    r"|20\d\d[年년]\s?\d\d?[月월]\s?\d\d?[日일]"
    r"(?:\s?[（(][月火水木金土日][)）]|\s?[月火水木金土日]曜日?|\s?(?:星期|周|週)[一二三四五六日天]|\s?[월화수목금토일]요일)?"
    r"(?:\s?\d\d?[時时시]\s?\d\d?[分분](?:\s?\d\d?[秒초])?)?"
)
_DAY = r"(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,?\s+)?"
_ZONE_NAME = r"(?:UTC|GMT|WES?T|CES?T|EES?T|MSK|BST|IST|JST|KST|HKT|SGT|A[CEW][SD]T|NZ[SD]T|[ACEMP][SD]T|AK[SD]T|HST)\b"
_CLOCK = (
    r"(?<![\d.:])\d\d?:\d\d(?!\d)(?::\d\d(?:[.,]\d+)?)?(?!:[\da-f]{2})(?:\s?[AaPp]\.?[Mm]\b\.?)?"
    rf"(?:\s?(?:Z\b|{_ZONE_NAME}|[+-]\d\d:?\d\d(?!\d)))?"
)
_DATE = (
    rf"\b20\d\d\.\d\d?\.\d\d?[.-]\d{{1,4}}\b(?![.-]?\w)|{_DAY}(?:\d{{4}}[-/.]\d\d?[-/.]\d\d?|(?<![\d.])[0-3]?\d(?:\.[0-3]?\d\.|/[0-3]?\d/|-[0-3]?\d-)\d{{4}}|(?<![\w/.])\d\d?/\d\d?/\d\d\b(?!/)"
    rf"|\b{_MONTH}\s+\d\d?(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?|\b{_MONTH}\s+20\d\d\b"
    rf"|\d\d?[-/]{_MONTH}[-/]\d{{2,4}}(?::\d\d:\d\d:\d\d(?:\s[+-]\d{{4}})?)?"
    rf"|(?<![\d.,])\d\d?(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTH}(?![\w.])(?:,?\s+\d{{4}}|(?!\s+\d))"
    rf"|(?:{_DATE_ELSEWHERE}))"
)
_PART_OF_YEAR = (
    r"\b20\d\d-(?:W\d\d(?:-\d)?|[0-3]\d\d|[01]\d)(?![-/.:]?\w)|\bQ[1-4][ -]?20\d\d\b|\b20\d\d[ -]?Q[1-4]\b"
    r"|\b(?i:(?:current|this) (?:year|month|quarter|season)(?: is|:)? |the (?:year|month) is(?: now)? )"
    r"(?:20\d\d|Q[1-4]|(?i:spring|summer|autumn|fall|winter)\b|"
    rf"{_MONTH})"
    r"|\b(?:[Ww]eek|[Dd]ay) \d{1,3} of (?:the year )?20\d\d\b"
)
_HOUR = r"(?:(?<=\bat )|(?<=\bis )|(?<=\bnow )|(?<=: ))\d\d?\s?[ap]m\b"
_ZONE = (
    r"\b(?:UTC|GMT)[+-]\d\d?(?::?\d\d)?\b"
    r"|(?:(?<=[:=(])|(?<=[:=] ))(?:Africa|America|Asia|Atlantic|Australia|Europe|Pacific)/[A-Z]\w+\b"
)
_WEEKDAY = (
    r"(?<!\b[Ee]very )(?<!\b[Ee]ach )\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
)
_UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)"
_AGO = (
    r"\b(?:(?:about|around|almost|over|(?:less|more) than)\s)?"
    rf"(?:(?:\d+|an?|one|two|three|a (?:few|couple of)|several) {_UNIT}|\d+(?:mo|[smhdwy])) ago\b"
    r"|\b(?:just now|(?:a )?(?:few )?moments? ago)\b|\b\d+ (?:seconds?|minutes?|hours?|days?) old\b"
    r"|\bvor (?:\d+|eine[rm]) (?:Sekunden?|Minuten?|Stunden?|Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)\b"
    r"|\bil y a (?:\d+|une?) (?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b"
    r"|\bhace (?:\d+|una?) (?:segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?)\b"
    r"|(?<!\d)\d{1,4}\s?(?:秒|分|時間|小时|分钟|日|天|週間|周|[かヶケ]月|个月|年)前"
)
_PYTHON_DATE = r"\bdatetime\.(?:datetime|date|time)\(\d+(?:, \d+)*"
_COMPACT = (
    r"\b20\d{6}(?:[T_-]?\d{4,6}Z?)?\b|(?<!\d)20\d\d-\d\d-\d\d[T_-]\d\d[-_]\d\d[-_]\d\d(?:[-_.]\d{3,6})?Z?(?![\w])"
)
"""The second form is for names of files, which hold no colon."""
_EPOCH = r"(?<![\w.])1[4-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?![\w])"
_SINCE_START = (
    r"(?P<lead>\b(?i:monotonic|perf_counter|process_time|uptime|clock|ticks)(?:_ns)?(?:\(\))?[\"']?\s?[:=]?\s?)"
    r"(?:\d+\.\d{3,}|\d{9,})\b|(?<=\[)\s*\d{1,7}\.\d{6}(?=\])"
)
"""Clocks that count from a start, with a fraction that no person writes; the second form is that of a kernel's log."""
_TEMPORARY = (
    r"(?:/private)?(?:/tmp|/var/tmp|/run/user/\d+|/var/folders/[^/\s]+/[^/\s]+/T)(?:/pytest-of-[^/\s]+/pytest-\d+)?/[^/\s\"'`,;:)\]}>\\]+"
    r"|[A-Za-z]:\\\\?Users\\\\?[^\\\s]+\\\\?AppData\\\\?Local\\\\?Temp(?:\\\\?pytest-of-[^\\\s]+\\\\?pytest-\d+)?\\\\?[^\\\s\"']+"
)
_LETTERS = r"A-Za-z0-9"
_RANDOM = (
    rf"(?<![\w/+-])(?=[{_LETTERS}/+]*\d)(?=[{_LETTERS}/+]*[a-z][A-Z])[{_LETTERS}/+]{{8,}}={{1,2}}(?![\w=])"
    r"|(?<![\w-])(?=[\w-]*[a-z][A-Z])(?=[\w-]*(?:\d[A-Za-z]|[A-Za-z]\d))(?![a-z]{2,}_[A-Za-z\d]+(?![\w-]))[\w-]{12,64}(?![\w-])"
    rf"|(?<![{_LETTERS}])(?=[{_LETTERS}]*\d)(?=[{_LETTERS}]*[A-Z])(?=[{_LETTERS}]*[a-z])[{_LETTERS}]{{8,64}}(?![{_LETTERS}])"
    rf"|(?<![{_LETTERS}])(?=\d*(?:[a-z]+\d+){{3}}|(?:\d+[a-z]+){{3}})[a-z0-9]{{8,64}}(?![{_LETTERS}])"
    rf"|(?<![{_LETTERS}])(?=\d*(?:[A-Z]+\d+){{3}}|(?:\d+[A-Z]+){{3}})[A-Z0-9]{{12,64}}(?![{_LETTERS}])"
)
"""Mixed letters and digits, alone or behind the name of what they are the id of: `thread_q3Xk9ZpL2a`. The first form is
base64 with its padding. The second has hyphens, as in base64 for URLs, and none of words with a number such as
`GPT-4-Turbo-Preview`. The last one is longer than the numbers of parts and orders that a person writes."""

_SLUG = (
    r"(?P<lead>\b(?i:session|container|sandbox|workspace|instance|machine|conversation|thread)"
    r"(?i:[ _-](?:id|name))?[\"']?\s?[:=]?\s?[\"'`]?)[a-z]{3,}(?:-[a-z]{3,}){1,3}-\d{1,5}(?![\w-])"
)
"""A name of random words with a number, behind what it names: `session: brave-turing-42`."""
_SIZE = r"\d+(?:[.,]\d+)?[KMGTP]i?B?"
_USAGE = (
    r"\bload averages?:(?:,?\s\d+[.,]\d\d){3}"
    rf"|\bup\s+(?:\d+ days?,\s+)?(?:\d+ min|\d+:\d\d|{MARK}),\s+\d+ users?,"
    rf"|(?<![\w.,]){_SIZE}(?:\s+{_SIZE})+\b(?:\s+\d{{1,3}}%)?"
    r"|(?P<lead>\b(?i:(?:free|used|available|resident|peak)(?:[ _](?:memory|mem|disk|space|rss))?"
    r"|(?:memory|mem|cpu|disk|heap|swap|ram)[ _](?:usage|used|in use|load)|(?:max)?rss)(?:[\"']?\s?[:=]\s?|\s))"
    r"\d+(?:[.,]\d+)?(?:\s?(?:[KMGTP]i?B|kB)\b|\s?%)"
)
"""What a machine has in use: its load, how long it is up, and sizes or percentages in a row or behind the word for
them."""

_RATE = (
    r"(?<![\w.,])\d+(?:[.,]\d+)?\s?(?:(?:[kKMGT]i?)?(?:B|[Bb]it)/s(?:ec)?|[kMG]bps"
    r"|(?:it|tok(?:ens?)?|req(?:uests?)?|ops|rows|samples|docs|files|steps?|tests?|records|items|iterations)/s(?:ec)?|s/it)(?!\w)"
)
"""How much a machine did in a second."""
_KERNEL = (
    r"\b[3-7]\.\d{1,2}\.\d{1,3}(?:\.\d+)?-(?:\d+-(?:generic|azure|aws|gcp|oracle|kvm|lowlatency|amd64|arm64|cloud[\w-]*)"
    r"|microsoft-standard-\w+|linuxkit|[\w.]*\.(?:el\d|fc\d+|amzn)[\w.]*)"
)
_USER = (
    r"(?P<lead>/(?:home|Users)/|\b[A-Za-z]:\\?\\?[\\/]Users\\?\\?[\\/]|(?m:^)[-dlbcps](?:[r-][w-][xsStT-]){3}[+@.]?\s+\d+\s+)"
    r"[\w.-]+(?:(?<=\w)\s+[\w.-]+(?=\s+\d+\s))?"
)
"""A user in the path of a home folder, and with the group in a line of `ls -l`."""

NAMED: Mapping[str, str] = MappingProxyType(
    {
        "uuid": rf"{UUID}|\b[0-9a-f]{{32}}\b|\b[0-9A-HJKMNP-TV-Z]{{26}}\b",
        "timestamp": rf"{_COMPACT}|{_DATE}(?:(?:,?\s(?:at\s)?|T|\s){_CLOCK}(?:\s\d{{4}}(?:\s[+-]\d{{4}})?)?)?"
        rf"|{_PART_OF_YEAR}|{_EPOCH}|{_CLOCK}|{_HOUR}|{_ZONE}|{_WEEKDAY}|{_AGO}|{_PYTHON_DATE}|{_SINCE_START}",
        "tmp": _TEMPORARY,
        "pid": r"(?P<lead>\b(?i:pid|process(?:[ _]id)?|ppid|tid|thread(?:[ _]id)?)[\"']?\s?[:=#(]?\s?"
        rf"|/proc/|\((?:node|python):|(?<![\w-])[a-z][\w-]{{0,40}}\[(?=\d+\]:)|(?:{MARK}|:\d\d(?:[.,]\d+)?Z?)\s\[(?=\d+\]:?\s[A-Z]{{4,}}\b))\d+"
        r"|(?:(?m:^)[ ]+)?(?<![\w.])\d{1,7}(?=\s+(?:pts/\d+|tty\w*|\?)\s)",
        "port": r"(?P<lead>(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]):"
        r"|\b(?i:port)[\"']?\s?[:=]?\s?(?=[3-6]\d{4}\b))\d+",
        "duration": r"\bP(?:\d+D)?T(?:\d+(?:\.\d+)?[HMS])+\b|\b(?:\d+d\s?)?(?:\d+h\s?)?(?:\d+m\s?)?\d+(?:\.\d+)?s\b"
        r"|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|minutes?)\b",
        "address": r"\b0x[0-9a-fA-F]+\b",
        "ip": r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
        r"|(?<![\w:])(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}"
        r"|(?=[\da-f:]*\d)[\da-f]{2,4}:(?:[\da-f]{1,4}:){0,6}(?::[\da-f]{1,4}){1,6})(?![\w:])"
        r"|(?<![\w:])[\da-f]{2}(?::[\da-f]{2}){5}(?![\w:])",
        "host": rf"{_KERNEL}|"
        r"\bip(?:-\d{1,3}){4}(?:\.[\w.-]*\w)?"
        r"|\b(?=[\w.]{0,99}-)(?=[\w.-]{0,99}[A-Z\d])[\w.-]{1,99}\.(?:local|internal|lan)\b(?![\w-]|\.\w)"
        r"|(?<![\w-])[a-z][a-z\d-]{0,62}-(?=[a-z\d]{0,9}\d)[a-z\d]{8,10}-[a-z\d]{5}(?![\w-])"
        r"|(?P<lead>\b(?i:host(?:[ _]?name)?|runner|worker|pod)[\"']?\s?[:=]?\s?[\"']?)[a-z][\w.-]*\d[\w-]*",
        "counter": r"(?P<lead>\b(?i:attempt|retry|run|build|job|iteration|seq|sequence|counter|request"
        r"|worker|thread|pool|task)"
        r"[\"']?\s?[:=#-]?\s?#?|-exec-|\[gw)\d+\b",
        "hex": r"(?P<lead>\b(?i:HEAD is(?: now)? at|commit|revision|rev|sha|sha1|hash|digest|blob|tree|object|container"
        r"|image)(?i:[ _-]id)?[\"']?\s?[:=@]?\s?[\"'`(\[]?)(?=[a-f]*\d)[0-9a-f]{7,64}\b"
        r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?:-[0-9a-f]{2,64})?\b"
        r"|(?:(?:\.(?:dev|post)\d+)?\+|-\d+-)g[0-9a-f]{7,12}(?:\.d20\d{6}|-dirty)?\b"
        r"|(?<=[a-z][_-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6}(?=[/\\])",
        "random": rf"{_RANDOM}|{_SLUG}",
        "rate": _RATE,
        "usage": _USAGE,
        "user": _USER,
        "number": r"(?<![\d.,])(?!\d*000(?!\d))\d{6,}(?![.,]?\d)",
    }
)
"""UUIDs, ULIDs and digests of 128 bits; dates, weeks, quarters, times of day, time zones and epochs; folders for
temporary files; numbers of processes; ports of this machine; durations; addresses in memory; addresses of the network
and of network cards; names of machines; the number of an attempt, a run, a build or a worker; hexadecimal ids;
other ids of mixed letters and digits, and names of random words; what a machine did in a second, and has in use; the
user of a home folder; ids of six or more digits, not round as the limits that a person writes."""

_LONGEST_NAME = max(map(len, NAMED)) + 2
_CLOSE = 0.85
"""How much of a misspelled name must agree with a name: `uid`, `timestamps` and `UUID` do, and `report` does not."""

_EPOCHS = regex(_EPOCH)
_FRESH = regex(
    rf"{NAMED['uuid']}|{NAMED['tmp']}|{NAMED['address']}|{NAMED['hex']}|{_RANDOM}|{_EPOCH}|\d:\d\d:\d\d"
    r"|\[\s*\d+\.\d{6}\]|\b(?i:monotonic|perf_counter)\b"
    r"|\d[-_]\d\d[-_]\d\d[T_-]\d\d|\d[.,]\d+\s?(?:[nµum]?s|secs?|seconds?)\b"
    r"|\b(?i:pid|tid|ppid)\b\W{1,3}\d|\w\[\d+\]:|/proc/\d|(?:localhost|127\.0\.0\.1|\[::1?\]):\d"
    r"|\b(?i:today|now|current\w*|it is)\b"
)
"""What only a machine writes: an id, a time to the second, a process. With a word for the present, a coarser value is
of the run too. A line with one of them is of the run as a whole."""
_COMPILED = {name: regex(pattern) for name, pattern in NAMED.items()}
_AROUND, _LINES = 1_000, 10
"""Characters, and lines, beside a difference that may belong to a value which it is a part of."""


def patterns(given: Iterable[str]) -> tuple[str, ...]:
    """Expressions for `ignore_text`, with the expression of each name. Raises ValueError for a misspelled name, which
    would be an expression for this one word."""
    return tuple(NAMED[one] if one in NAMED else _not_a_name(one) for one in given)


def _not_a_name(expression: str) -> str:
    if not expression.isalpha() or len(expression) > _LONGEST_NAME:
        return expression
    from difflib import get_close_matches  # imported here because it is for a wrong name alone

    near = get_close_matches(expression.lower(), NAMED, 1, _CLOSE)
    if near:
        raise ValueError(
            f"{expression!r} in ignore_text is not a name; did you mean {near[0]!r}? for the word itself write "
            f"{f'({expression})'!r}"
        )
    return expression


def names_for(differences: Iterable[Difference]) -> list[str]:
    """The names that cover every difference of text; empty when something else differs too. Fields that hold a time
    as a number need no name (`fields_for`)."""
    pairs: list[tuple[str, str]] = []
    for difference in differences:
        if _is_epoch(difference):
            continue
        if not (isinstance(difference.recorded, str) and isinstance(difference.given, str)):
            return []
        if is_file(difference.recorded) or is_file(difference.given):
            return []  # its digest or base64 looks random, and the file is another one
        pairs.append(where_they_differ(difference.recorded, difference.given))
    names = list(_COMPILED)
    if not pairs or not _covers(names, pairs):
        return []
    for name in reversed(list(names)):
        fewer = [one for one in names if one != name]
        if fewer and _covers(fewer, pairs):
            names = fewer
    return names


def where_they_differ(one: str, other: str) -> tuple[str, str]:
    """Two texts without the lines that are equal, but for some around what differs: no value is longer."""
    least = min(len(one), len(other))
    begin = _equal(least, lambda size: one[:size] == other[:size])
    end = _equal(least - begin, lambda size: one[len(one) - size :] == other[len(other) - size :])
    begin = one.rfind("\n", 0, max(begin - _AROUND, 0)) + 1
    after = one.find("\n", min(len(one) - end + _AROUND, len(one)))
    end = len(one) - after if after >= 0 else 0
    ones, others = one[begin : len(one) - end].split("\n"), other[begin : len(other) - end].split("\n")
    if len(ones) == len(others):
        differ = [at for at, pair in enumerate(zip(ones, others, strict=True)) if pair[0] != pair[1]]
        near = sorted({at for line in differ for at in range(max(line - _LINES, 0), min(line + _LINES + 1, len(ones)))})
        ones, others = [ones[at] for at in near], [others[at] for at in near]
    return "\n".join(ones), "\n".join(others)


def _equal(most: int, is_equal: Callable[[int], bool]) -> int:
    """The largest size up to `most` that is equal, where all smaller ones are."""
    return bisect_left(range(1, most + 1), True, key=lambda size: not is_equal(size))


def may_be_meant(differences: Iterable[Difference]) -> bool:
    """True when a person may have changed what the names of `names_for` cover: a date, 30 seconds, the number of a
    host. A line that differs is surely new in each run only when it holds a value that no person writes."""
    for difference in differences:
        if isinstance(difference.recorded, str) and isinstance(difference.given, str):
            pairs = zip_longest(difference.recorded.splitlines(), difference.given.splitlines(), fillvalue="")
            if any(one != other and not (_FRESH.search(one) and _FRESH.search(other)) for one, other in pairs):
                return True
    return False


def fields_for(differences: Iterable[Difference]) -> list[str]:
    """Pointers of the fields that hold a time as a number, in the recording and now: `ignore` takes them."""
    return [one.pointer for one in differences if _is_epoch(one)]


def _is_epoch(difference: Difference) -> bool:
    return all(
        isinstance(one, int | float) and not isinstance(one, bool) and _EPOCHS.fullmatch(f"{one}")
        for one in (difference.recorded, difference.given)
    )


def _covers(names: list[str], pairs: list[tuple[str, str]]) -> bool:
    return all(_without(names, one) == _without(names, other) for one, other in pairs)


def _without(names: list[str], text: str) -> str:
    for name in names:
        lead = r"\g<lead>" if "lead" in _COMPILED[name].groupindex else ""
        text = _COMPILED[name].sub(lead + MARK, text)
    return text
