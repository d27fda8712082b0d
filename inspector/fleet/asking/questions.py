"""The named questions: SQL over the views of `views`, with parameters that have defaults.

`None` as a default means "all". The SQL names its parameters `$name`.

A large store has millions of groups, so a group holds as little as possible: `count(distinct …)` and lists are taken of
what a first step has left. Else ten times the rows take more than ten times the time.
"""

from collections.abc import Mapping
from dataclasses import field
from difflib import get_close_matches

from turntape.cassettes.frozen import frozen

from .sql_errors import QuestionError
from .views import FEES, IS_UNPRICED


@frozen
class Question:
    name: str
    summary: str
    """What it answers, as one line."""
    sql: str
    parameters: Mapping[str, int | float | str | None] = field(default_factory=dict[str, int | float | str | None])
    """The defaults; their types are those of given values."""


_BRANCH = {"branch": None}
_IN_BRANCH = "($branch::varchar is null or branch = $branch)"

QUESTIONS = (
    Question(
        "cost-by-branch",
        "what each branch and model cost",
        f"""\
with costs as (
  select branch, request_model, recording, count(*) as turns, sum(cost_usd) as cost_usd,
    count(*) filter {IS_UNPRICED} as unpriced, {FEES} as unpriced_fees
  from turns group by all
)
select branch, request_model, count(*) as runs, sum(turns)::bigint as turns, sum(cost_usd) as cost_usd,
  round(sum(cost_usd)::double / count(*), 6) as cost_per_run, sum(unpriced)::bigint as unpriced,
  {FEES} as unpriced_fees
from costs group by all order by cost_usd desc nulls last, branch, request_model""",
    ),
    Question(
        "findings-trend",
        "how often each finding came up, by week",
        f"""\
select id, severity, date_trunc('week', started_at)::date as week, count(*) as findings,
  count(distinct recording) as runs
from findings where {_IN_BRANCH} group by all order by id, severity, week""",
        _BRANCH,
    ),
    Question(
        "prompt-regressions",
        "failed runs by system prompt: which change raised them",
        f"""\
select system_hash, branch, min(started_at) as first_seen, count(distinct recording) as runs,
  count(distinct recording) filter (verdict = 'fail') as failed,
  round(count(distinct recording) filter (verdict = 'fail') / count(distinct recording), 4) as failed_share
from turns where system_hash is not null and {_IN_BRANCH}
group by all having count(distinct recording) >= $min_runs
order by failed_share desc, runs desc, system_hash, branch""",
        {**_BRANCH, "min_runs": 1},
    ),
    Question(
        "dearest-tools",
        "the tools whose results are largest, with their errors",
        f"""\
select name, count(*) as calls, count(*) filter (is_error) as errors, sum(result_bytes)::bigint as result_bytes,
  round(avg(result_bytes), 1) as bytes_per_call
from tool_calls where {_IN_BRANCH} group by all order by result_bytes desc nulls last, name limit $limit""",
        {**_BRANCH, "limit": 20},
    ),
    Question(
        "cache-by-client",
        "the share of input read from the cache, by client and version",
        """\
select client, client_version, count(*) as turns, sum(input)::bigint as input, sum(cache_read)::bigint as cache_read,
  round(sum(cache_read) / sum(input), 4) as cached_share
from turns where input is not null group by all order by client, client_version""",
    ),
    Question(
        "slowest",
        "the time to the first byte, by model",
        """\
select request_model, count(*) as turns, round(quantile_cont(first_byte_ms, 0.5), 3) as median_ms,
  round(quantile_cont(first_byte_ms, 0.95), 3) as p95_ms, round(max(first_byte_ms), 3) as longest_ms
from turns where status = 200 and first_byte_ms is not null
group by all order by p95_ms desc, request_model limit $limit""",
        {"limit": 20},
    ),
    Question(
        "task-costs",
        "what a run of each task costs on each branch, against `base`",
        f"""\
with costs as (
  select task, branch, count(distinct recording) as runs,
    round(sum(cost_usd)::double / count(distinct recording), 6) as cost_per_run,
    count(*) filter {IS_UNPRICED} as unpriced, {FEES} as unpriced_fees
  from turns where task is not null group by all
)
select one.task, one.branch, one.runs, one.cost_per_run, base.cost_per_run as base_cost_per_run,
  case when one.unpriced + base.unpriced = 0 then round(one.cost_per_run / base.cost_per_run - 1, 4) end as change,
  one.unpriced, base.unpriced as base_unpriced, one.unpriced_fees
from costs as one left join costs as base on base.task = one.task and base.branch = $base
order by change desc nulls last, one.task, one.branch""",
        {"base": "main"},
    ),
    Question(
        "flaky-tasks",
        "tasks that both passed and failed on one branch",
        """\
select task, branch, count(*) as runs, count(*) filter (verdict = 'pass') as passed,
  count(*) filter (verdict = 'fail') as failed
from runs where task is not null group by all having count(distinct verdict) > 1
order by failed desc, task, branch""",
    ),
    Question(
        "flaky-turns",
        "equal requests that ended in different ways",
        """\
with parted as (
  select hash(prefix_hash, request_model, n) as request from turns where prefix_hash is not null
  group by all having min(finish) <> max(finish)
)
select prefix_hash, request_model, n, count(*) as turns, count(distinct finish) as finishes,
  list_sort(list_distinct(list(finish))) as which
from turns where prefix_hash is not null and hash(prefix_hash, request_model, n) in (select request from parted)
group by prefix_hash, request_model, n having count(distinct finish) > 1
order by turns desc, prefix_hash, request_model, n limit $limit""",
        {"limit": 20},
    ),
    Question(
        "api-errors",
        "refused requests by API, status and hour of the day (UTC)",
        """\
select provider, status, hour(started_at) as hour, count(*) as requests, count(distinct recording) as runs
from turns where status >= 400 group by all order by provider, status, hour""",
    ),
    Question(
        "cache-breaks",
        "turns whose changed history lost the cache, by client",
        f"""\
select client, client_version, count(*) as turns, sum(input)::bigint as input, sum(cost_usd) as cost_usd,
  count(*) filter {IS_UNPRICED} as unpriced, {FEES} as unpriced_fees
from turns where turn > 1 and history = 'changed' and cache_read = 0
group by all order by input desc nulls last, client, client_version""",
    ),
    Question(
        "dearest-runs",
        "the runs that cost most, with the address to open each",
        f"""\
with dearest as (
  select recording, run from turns where {_IN_BRANCH} group by all
  order by sum(cost_usd) desc nulls last, recording, run limit $limit
)
select regexp_replace(min(one.address), '/\\d+$', '') as address, arg_min_null(one.branch, n) as branch,
  arg_min_null(one.task, n) as task, arg_min_null(one.agent, n) as agent,
  count(distinct (one.thread, one.turn)) as turns, sum(one.input)::bigint as input, sum(one.cost_usd) as cost_usd,
  sum(len([f for f in findings if f.severity = 'error' and f.root]))::bigint as errors,
  count(*) filter {IS_UNPRICED} as unpriced, {FEES} as unpriced_fees
from turns as one join dearest on dearest.recording = one.recording and dearest.run is not distinct from one.run
group by one.recording, one.run order by cost_usd desc nulls last, address limit $limit""",
        {**_BRANCH, "limit": 20},
    ),
)


def question(name: str) -> Question:
    """The question of that name. Raises QuestionError, with the nearest one."""
    found = next((one for one in QUESTIONS if one.name == name), None)
    if found is not None:
        return found
    near = get_close_matches(name, [one.name for one in QUESTIONS], 1)
    hint = f"did you mean {near[0]!r}?" if near else "`turntape query --list` shows them"
    raise QuestionError(f"{name!r} is neither SQL nor a named question; {hint}")


def values(one: Question, given: Mapping[str, str]) -> dict[str, object]:
    """The parameters of a question: its defaults with those that are given. Raises QuestionError for a wrong one."""
    unknown = [name for name in given if name not in one.parameters]
    if unknown:
        known = ", ".join(one.parameters) if one.parameters else "none"
        raise QuestionError(f"the question {one.name!r} has no parameter {unknown[0]!r}; its parameters: {known}")
    return {name: _typed(name, given[name], default) if name in given else default for name, default in _items(one)}


def _items(one: Question) -> list[tuple[str, int | float | str | None]]:
    return list(one.parameters.items())


def _typed(name: str, text: str, default: float | str | None) -> object:
    if not isinstance(default, int | float):
        return text
    try:
        return type(default)(text)
    except ValueError as exc:
        raise QuestionError(f"the parameter {name!r} must be a number, not {text!r}") from exc


def is_name(text: str) -> bool:
    """True for text that can only be meant as the name of a question."""
    return bool(text) and all(letter.isalnum() or letter in "-_" for letter in text)
