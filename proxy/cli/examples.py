"""Examples for the help of each command."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("turntape demo", "turntape demo --fault client   # something goes wrong"),
    "run": ("turntape run -- python agent.py", "turntape run --view --max-cost 0.50 -- python agent.py"),
    "record": ("turntape record --port 8484", "turntape record --upstream openai=http://localhost:8000/v1"),
    "mcp": ("turntape mcp -- python server.py", "turntape mcp wrap .mcp.json"),
    "doctor": ("turntape doctor", "turntape doctor -- python agent.py"),
    "ca": ("turntape ca show",),
    "show": (
        "turntape show run.cassette.jsonl",
        "turntape show run.cassette.jsonl --turn 3",
        "turntape show run.cassette.jsonl --costs",
    ),
    "view": ("turntape view run.cassette.jsonl", "turntape view run.cassette.jsonl --follow"),
    "report": (
        "turntape report run.cassette.jsonl -o run.html",
        "turntape report run.cassette.jsonl -o run.html --redact-text",
    ),
    "check": (
        "turntape check run.cassette.jsonl --max-cost 0.50",
        "turntape check tests/cassettes --format junit -o findings.xml",
    ),
    "explain": ("turntape explain client-missing-tool-result", "turntape explain api"),
    "diff": ("turntape diff good.cassette.jsonl bad.cassette.jsonl",),
    "price": (
        "turntape price run.cassette.jsonl",
        "turntape price run.cassette.jsonl --model gpt-5-mini --cap-results 2000",
    ),
    "prices": ("turntape prices 'runs/*.jsonl'", "turntape prices --update"),
    "replay": ("turntape replay run.cassette.jsonl", "turntape replay tests/cassettes --port 8484"),
    "fork": ("turntape fork run.cassette.jsonl --at 4 -- python agent.py",),
    "import": ("turntape import cassette.yaml", "turntape import --pytest"),
    "export": ("turntape export run.cassette.jsonl --format har -o run.har",),
    "lint": ("turntape lint tests/cassettes",),
    "scrub": ("turntape scrub run.cassette.jsonl -o clean.cassette.jsonl",),
    "git-setup": ("turntape git-setup",),
    "mcp-server": ("turntape mcp-server runs",),
    "completion": ("source <(turntape completion bash)",),
    "ship": ("turntape ship 'runs/*.jsonl' --to s3://bucket/agents",),
    "query": (
        "turntape query --list",
        "turntape query cost-by-branch --at s3://bucket/agents",
        "turntape query 'SELECT model, sum(cost_usd) FROM turns GROUP BY 1' --at runs",
    ),
    "fleet": ("turntape fleet --at s3://bucket/agents --view",),
    "forget": ("turntape forget --recording RECORDING --at s3://bucket/agents",),
}
"""Lines for a shell, by the name of the command."""


def examples_text(name: str) -> str:
    """The examples of a command as a section of its help; empty when it has none."""
    lines = EXAMPLES.get(name, ())
    return "".join(["examples:\n", *(f"  {line}\n" for line in lines), "\n"]) if lines else ""
