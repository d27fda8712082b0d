"""The views that questions read, as SQL for DuckDB. `round_trips` has every row; the others are made from it."""

COMPACTED, LANDING, SUPERSEDED, STORE = "_compacted", "_landing", "_superseded", "_store"
"""What the views are made from; `_store` holds the address of the store."""

ROUND_TRIPS = f"""
select *, (select address from {STORE}) || '#' || recording || '/' || n as address
from (
  select * from {COMPACTED} where recording not in (select recording from {SUPERSEDED})
  union all by name
  select * from {LANDING}
)
"""
PLAIN_ROUND_TRIPS = f"""
select *, (select address from {STORE}) || '#' || recording || '/' || n as address
from (select * from {COMPACTED} union all by name select * from {LANDING})
"""
"""The same where no compacted row is superseded: filters reach the files then."""

IS_UNPRICED = """(coalesce(len(unpriced_fees), 0) > 0 or (cost_usd is null and not (
    (status is null or status >= 400 or coalesce(effective, '') = 'error')
    and coalesce(emitted, 'none') = 'none' and input is null)))"""
"""Whether the cost of a row is not known, or not known as a whole: the rule of `run.label_costs.is_unpriced`."""
FEES = "coalesce(list_sort(list_distinct(flatten(list(unpriced_fees) filter (len(unpriced_fees) > 0)))), [])"
"""The fees without a price of some rows."""

_OF_A_TURN = """
  recording, run, thread, turn, n, part, day, started_at, request_model, client, agent,
  repository, branch, "commit", job, task, verdict, "user", service, address
"""
"""What the elements of lists keep of their turn. They are named one by one, so that only those in use are read."""

_SUMS = f"""
  min(started_at) as started_at,
  max(started_at + to_microseconds(cast(coalesce(duration_ms, 0) * 1000 as bigint))) as ended_at,
  count(distinct (thread, turn)) as turns,
  count(*) filter (attempt > 1) as retries,
  count(*) filter (status >= 400 or status is null) as failed,
  sum(input)::bigint as input, sum(cache_read)::bigint as cache_read, sum(cache_write)::bigint as cache_write,
  sum(output)::bigint as output, sum(reasoning)::bigint as reasoning,
  sum(cost_usd) as cost_usd, count(*) filter {IS_UNPRICED} as unpriced, {FEES} as unpriced_fees,
  sum(len(tool_calls))::bigint as tool_calls,
  sum(len(findings))::bigint as findings,
  sum(len([f for f in findings if f.severity = 'error' and f.root]))::bigint as errors,
  sum(len([f for f in findings if f.severity = 'warning' and f.root]))::bigint as warnings,
"""

# `arg_min_null` is `first(… order by n)` without keeping and sorting the rows of each group.
_WHOSE = """
  list_sort(list_distinct(list(request_model))) as models,
  arg_min_null(client, n) as client, arg_min_null(client_version, n) as client_version,
  arg_min_null(agent, n) as agent, arg_min_null(session, n) as session, arg_min_null(trace_id, n) as trace_id,
  arg_min_null(repository, n) as repository, arg_min_null(branch, n) as branch,
  arg_min_null("commit", n) as "commit", arg_min_null(pull_request, n) as pull_request,
  arg_min_null(job, n) as job, arg_min_null(task, n) as task, arg_min_null(verdict, n) as verdict,
  arg_min_null("user", n) as "user", arg_min_null(service, n) as service,
"""

VIEWS: dict[str, str] = {
    "turns": "select * from round_trips where turn is not null",
    "runs": f"""
select recording, run, any_value(day) as day, {_SUMS}
  count(distinct thread) as threads, {_WHOSE}
  (select address from {STORE}) || '#' || recording as address
from turns group by recording, run
""",
    "threads": f"""
select recording, run, thread, any_value(day) as day, {_SUMS} {_WHOSE}
  arg_max(outcome, n) as outcome, arg_max(effective, n) as effective,
  min(address) filter (turn = 1) as address
from turns group by recording, run, thread
""",
    "tool_calls": f"""
select {_OF_A_TURN}, c.id as call_id, c.name, c.server, c.args_hash, c.args_bytes, c.is_error, c.result_bytes
from (select {_OF_A_TURN}, unnest(tool_calls) as c from turns)
""",
    "tool_runs": f"""
select {_OF_A_TURN}, c.call_id, c.name, c.server, c.wire, c.outcome as run_outcome, c.joined, c.duration_ms, c.is_error,
  c.returned_bytes, c.seen_bytes, c.seen_as, c.sent_hash, c.seen_hash
from (select {_OF_A_TURN}, unnest(tool_runs) as c from turns)
""",
    "findings": f"""
select {_OF_A_TURN}, c.id, c.layer, c.severity, c.tier, c.root
from (select {_OF_A_TURN}, unnest(findings) as c from round_trips)
""",
}
"""Each view by its name, in the order in which they are made."""
NAMES = ("turns", "runs", "threads", "tool_calls", "tool_runs", "findings", "round_trips")
