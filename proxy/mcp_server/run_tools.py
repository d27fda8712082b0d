"""Tools about whole runs: which there are, their turns, their findings, their cost, and a search through them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Literal

from turntape.cassettes.errors import TurntapeError
from turntape.inspector.findings.docs import class_of, unknown
from turntape.inspector.findings.finding import SEVERITIES, Finding, Severity
from turntape.inspector.run.filters import FIELDS, parse
from turntape.inspector.run.growth import KINDS, steps, summed
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.totals import Totals, totals
from turntape.inspector.run.turn_label import money
from turntape.inspector.tools.run_words import WHOLE, joined_words, outcome_words, seen_words
from turntape.inspector.tools.tool_run import ToolRun
from turntape.inspector.views.text.tool_diff import as_returned, as_seen

from .pages import clipped, compact, given, page
from .tape_folder import Address, TapeFolder, address_of

_DEAREST = 5
_RESULT = 300
"""Characters of a tool's result."""
_AROUND = 80
"""Characters shown before and after a word that was found."""

Severities = Literal["info", "warning", "error"]
Layers = Literal["", "model", "api", "client", "tool"]


def list_runs(folder: TapeFolder, contains: str, offset: int, limit: int) -> str:
    """The cassettes, newest first, each with its run, or with its runs if there are several."""
    names = [name for name in folder.names() if contains.lower() in name.lower()]

    def shown(name: str) -> object:
        try:
            runs = list(_runs(folder.run(name), name))
        except TurntapeError as exc:
            return {"file": name, "problem": str(exc)}
        return {"file": name, **runs[0]} if len(runs) == 1 else {"file": name, "runs": runs}

    return page("files", names, shown, offset=offset, limit=limit)


def _runs(run: Run, name: str) -> Iterator[dict[str, object]]:
    of: dict[str | None, list[Row]] = {}
    for row in run.rows.all:
        of.setdefault(row.run, []).append(row)
    for title, rows in of.items() or [(None, list[Row]())]:
        sums = totals(rows)
        trouble = next((row for row in rows if row.went_wrong), None)
        yield given(
            run=title,
            **_sums(sums),
            threads=sums.threads if sums.threads > 1 else None,
            models=list(sums.models),
            tool_runs=sums.tool_runs or None,
            seconds=round(sums.seconds, 1),
            errors=sums.errors,
            warnings=sums.warnings,
            first_error=address_of(name, trouble) if trouble else None,
            problems=run.problems[:3],
        )


def _sums(sums: Totals) -> dict[str, object]:
    return given(
        turns=sums.turns,
        retries=sums.retries or None,
        input_tokens=sums.input,
        cached_tokens=sums.cache_read,
        output_tokens=sums.output,
        cost_usd=_dollars(sums.cost),
        turns_without_price=sums.unpriced or None,
    )


def _dollars(amount: Decimal | None) -> str | None:
    """A cost with six digits after the point, or as many as it takes to show three of it; None when it is unknown."""
    return None if amount is None else money(round(amount, max(6, 2 - amount.adjusted())))


def list_turns(folder: TapeFolder, file: str, thread: str, offset: int, limit: int) -> str:
    """The turns of a cassette in order, a few words each."""
    run = folder.run(file)
    rows = [row for row in run.rows.all if row.is_turn and thread in ("", row.thread)]
    if thread and not rows:
        known = ", ".join(run.rows.threads) or "none"
        raise TurntapeError(f"{file!r} has no thread {thread!r}; its threads: {known}")
    return page("turns", rows, lambda row: _turn(file, row), offset=offset, limit=limit)


def _turn(file: str, row: Row) -> dict[str, object]:
    return given(
        at=address_of(file, row),
        thread=row.thread,
        turn=row.turn,
        attempt=row.attempt if row.attempt > 1 else None,
        model=row.model,
        said=clipped(row.said, 160),
        calls=list(row.calls[:8]),
        finish=row.finish,
        client=row.outcome,
        tool_runs=[_run_words(run) for run in row.tool_runs[:8]],
        error=clipped(row.error, 200) if row.error else None,
        input_tokens=row.usage.input,
        output_tokens=row.usage.output,
        cost_usd=_dollars(row.cost),
        ms=None if row.duration_ms is None else round(row.duration_ms),
        findings=[f"{found.severity}: {found.id}" for found in row.findings],
    )


def _run_words(run: ToolRun) -> str:
    """A tool run in a few words: name, server, how it ended, what was seen of its result."""
    words = [f"{run.name} on {run.server}", outcome_words(run), "" if run.seen_as in WHOLE else seen_words(run)]
    return ", ".join(word for word in words if word)


def list_tool_runs(folder: TapeFolder, file: str, offset: int, limit: int) -> str:
    """The tool runs of a cassette in order, each with what was returned and what the model saw, in short."""
    found = [(row, run) for row in folder.run(file).rows.all for run in row.tool_runs]
    found.sort(key=lambda one: one[1].started_at)

    def shown(one: tuple[Row, ToolRun]) -> object:
        row, run = one
        returned, seen = as_returned(run), as_seen(run)
        return given(
            at=str(Address(file, run.index)),
            turn=address_of(file, row) if row.is_turn else None,
            call_id=run.call_id,
            tool=run.name,
            server=run.server,
            arguments=clipped(run.arguments_raw, 200),
            ms=None if run.duration_ms is None else round(run.duration_ms, 1),
            outcome=outcome_words(run) or "answered",
            joined=joined_words(run) or "by an id",
            seen=seen_words(run),
            returned_bytes=run.returned_bytes,
            seen_bytes=run.seen_bytes,
            returned=clipped(returned, _RESULT),
            seen_text=clipped(seen, _RESULT) if run.seen_as not in WHOLE else None,
        )

    return page("tool_runs", found, shown, offset=offset, limit=limit)


def list_findings(
    folder: TapeFolder, file: str, severity: Severities, layer: Layers, offset: int, limit: int, skip_files: int = 0
) -> str:
    """The findings of one cassette, or of the newest ones, most severe first."""
    names, first = _chosen(folder, file, skip_files)
    least = SEVERITIES.index(severity)
    found = [
        (name, row, finding)
        for name in names
        for row in _rows(folder, name, one_file=bool(file))
        for finding in row.findings
        if SEVERITIES.index(finding.severity) >= least and layer in ("", finding.layer)
    ]
    found.sort(key=lambda one: -SEVERITIES.index(one[2].severity))
    counts: Counter[Severity] = Counter(finding.severity for _, _, finding in found)
    first |= {f"{name}s" if name != "info" else name: counts[name] for name in reversed(SEVERITIES) if counts[name]}
    return page("findings", found, lambda one: _finding(*one), offset=offset, limit=limit, first=first)


def _finding(name: str, row: Row, finding: Finding) -> dict[str, object]:
    return given(
        at=address_of(name, row),
        turn=row.turn,
        thread=row.thread,
        id=finding.id,
        layer=finding.layer,
        severity=finding.severity,
        message=clipped(finding.message, 400),
        evidence=list(finding.evidence[:5]),
        fix=clipped(finding.fix, 300),
        because_of=list(finding.because_of),
    )


def explain_finding(name: str) -> str:
    """What a class of findings means, when it does not fire, an example, and the fix."""
    one = class_of(name)
    if one is None:
        raise TurntapeError(unknown(name).replace("`turntape explain`", "the documentation"))
    return compact({key: value for key, value in one.as_json().items() if value not in (None, [], False)})


def costs(folder: TapeFolder, file: str) -> str:
    """What a cassette cost: in all, by thread and model, its dearest turns, and its tokens by kind."""
    run = folder.run(file)
    rows = [row for row in run.rows.all if row.is_turn]
    dearest = sorted((row for row in rows if row.cost), key=lambda row: -(row.cost or 0))[:_DEAREST]
    kinds = summed(steps(enumerate(run.rows.all)))
    return compact(
        given(
            file=file,
            **_sums(totals(run.rows.all)),
            tokens={name: amount for name, _ in KINDS if (amount := getattr(kinds, name))},
            threads=list(_grouped("thread", rows))[:20],
            models=list(_grouped("model", rows))[:20],
            dearest=[
                given(
                    at=address_of(file, row),
                    turn=row.turn,
                    thread=row.thread,
                    cost_usd=_dollars(row.cost),
                    input_tokens=row.usage.input,
                    cached_tokens=row.usage.cache_read,
                    output_tokens=row.usage.output,
                )
                for row in dearest
            ],
        )
    )


def _grouped(field: Literal["thread", "model"], rows: Iterable[Row]) -> Iterator[dict[str, object]]:
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.thread if field == "thread" else row.model, []).append(row)
    for name, members in groups.items():
        yield {field: name, **_sums(totals(members))}


def search(folder: TapeFolder, query: str, file: str, offset: int, limit: int, skip_files: int) -> str:
    """The round trips of one cassette, or of all, that match a query."""
    wanted = parse(query)
    if wanted.problem or not wanted:
        fields = "; ".join(f"{name}: {meaning}" for name, (_, meaning) in FIELDS.items())
        raise TurntapeError(f"{wanted.problem or 'the query is empty'}. Fields of a query: {fields}")
    names, first = _chosen(folder, file, skip_files)
    found = [(name, row) for name in names for row in _rows(folder, name, one_file=bool(file)) if wanted(row)]

    def shown(one: tuple[str, Row]) -> object:
        name, row = one
        return given(
            at=address_of(name, row),
            turn=row.turn,
            thread=row.thread,
            finish=row.finish,
            calls=list(row.calls[:4]),
            said=clipped(row.said, 100),
            near=_near(row, wanted.words),
        )

    return page("found", found, shown, offset=offset, limit=limit, first=first)


def _near(row: Row, words: Iterable[str]) -> str | None:
    """The text around the first word that is in the row, in lower case, as the search sees it."""
    for word in words:
        at = row.haystack.find(word)
        if at >= 0:
            start, end = max(0, at - _AROUND), at + len(word) + _AROUND
            text = " ".join(row.haystack[start:end].split())
            return ("…" if start else "") + text + ("…" if end < len(row.haystack) else "")
    return None


def _chosen(folder: TapeFolder, file: str, skip_files: int) -> tuple[list[str], dict[str, object]]:
    """The cassettes to read, and how to read those that are left out."""
    if file:
        return [file], {}
    skip = max(0, skip_files)
    names, count = folder.portion(skip)
    following = skip + len(names)
    if following >= count and not skip:
        return names, {}
    read = f"files {skip + 1} to {following} of {count} were read, the newest first" if names else "no file was read"
    return names, given(read=read, next_skip_files=following if following < count else None)


def _rows(folder: TapeFolder, name: str, *, one_file: bool) -> list[Row]:
    """The rows of a cassette. Among several, one that cannot be read has none; list_runs shows why."""
    try:
        return folder.run(name).rows.all
    except TurntapeError:
        if one_file:
            raise
        return []
