"""How APIs cache prompts: a rule for each model of a provider.

Sources: the providers' caching guides, and what recorded traffic shows (both read 2026-11-21). Sizes are tokens, times
are seconds. A provider's table is in `providers.py`; the rules are used by `inspector/ledger/cache`.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

type Level = Literal["tools", "system", "messages"]
"""A prompt has the tools first, then the system prompt, then the messages."""
type Cause = Literal[
    "changed-tools",
    "changed-system",
    "changed-history",
    "moved-breakpoint",
    "no-breakpoint",
    "expired",
    "below-minimum",
    "model",
    "key",
    "tool-choice",
    "thinking",
    "verbosity",
    "text-format",
    "service-tier",
    "speed",
    "not-promised",
    "unexplained",
]
"""Why a prompt was not read from the cache as far as it could have been."""

MINUTE = 60.0
HOUR = 3600.0
LIFETIMES: Mapping[str, float] = {"5m": 5 * MINUTE, "30m": 30 * MINUTE, "1h": HOUR, "12h": 12 * HOUR, "24h": 24 * HOUR}


@frozen
class Setting:
    """A field of the request, beside the prompt, that the cache depends on from one level on."""

    cause: Cause
    level: Level
    path: tuple[str, ...]


@frozen(kw_only=True)
class CacheRule:
    """What all rules have."""

    name: str
    """For people: `marks`, `grid of 128`, `one slot`."""
    minimum: int = 0
    """The shortest prefix that is kept."""
    lifetime: float = 5 * MINUTE
    """How long an entry surely lives after the start of the last request that wrote or read it."""
    longest: float = 5 * MINUTE
    """After this, it is surely gone."""
    promised: bool = False
    """True when the API keeps what its rule says. Otherwise a read is possible, and never expected."""
    keeps_reasoning: bool = True
    """True when reasoning that the client sends back stays in the prompt."""
    vague: bool = False
    """True when the API may read more than its rule allows, so that nothing can be expected, not even no read."""
    settings: tuple[Setting, ...] = ()


@frozen(kw_only=True)
class Marks(CacheRule):
    """The API keeps the prompt up to each mark of the request, to the token."""

    name: str = "marks"
    promised: bool = True
    look_back: int | None = 20
    """How many blocks before a mark, with its own, are searched for an entry; None: all."""
    most_written: int = 4
    """How many marks of a request make an entry, the last ones."""
    most_searched: int = 4
    implicit: bool = False
    """True when the API also keeps the whole prompt, unless the request turns that off."""
    needs_key: bool = False
    """True when it promises reads only for requests with a `prompt_cache_key`."""
    tail: int = 3
    """Tokens that the API adds after the last piece of the prompt."""
    default_lifetime: str = "5m"


@frozen(kw_only=True)
class Grid(CacheRule):
    """The API keeps every prompt, and reads the common beginning, cut down to whole steps."""

    step: int
    keeps_output: bool = True
    """True when it also keeps the answers."""
    own: int = 0
    """The API puts hidden text in front of each prompt, and its servers always hold so many tokens of it."""


@frozen(kw_only=True)
class Units(Grid):
    """As `Grid`, but it reads only whole prompts, and what two earlier ones have in common."""


@frozen(kw_only=True)
class Slot(CacheRule):
    """A server on the user's machine: it holds the last request and its answer."""

    name: str = "one slot"
    longest: float = 24 * HOUR
    lifetime: float = 24 * HOUR


@frozen(kw_only=True)
class Unpromised(CacheRule):
    """The API may read any part of the common beginning, also nothing."""

    name: str = "none promised"
    longest: float = 24 * HOUR
    vague: bool = True


type CacheTable = tuple[tuple[re.Pattern[str], CacheRule], ...]
"""Rules by model. The first pattern that is found in the name counts; names are in lower case, with `-` for dots."""


def _row(pattern: str, rule: CacheRule) -> tuple[re.Pattern[str], CacheRule]:
    return regex(pattern), rule


_CLAUDE = Marks(
    minimum=1024,
    longest=HOUR,
    settings=(
        Setting("speed", "system", ("speed",)),
        Setting("tool-choice", "messages", ("tool_choice",)),
        Setting("thinking", "messages", ("thinking",)),
        Setting("thinking", "messages", ("output_config", "effort")),
        Setting("thinking", "messages", ("additionalModelRequestFields", "thinking")),
    ),
)
CLAUDE: CacheTable = (
    _row(r"opus-5(?!-?5)|(fable|mythos)-5-1", replace(_CLAUDE, minimum=512)),
    _row(r"opus-4-8", replace(_CLAUDE, tail=2)),
    _row(r"opus-4-7|haiku-3-5|3-5-haiku", replace(_CLAUDE, minimum=2048)),
    _row(r"opus-4-[56]|haiku-4-5", replace(_CLAUDE, minimum=4096)),
    _row(r"sonnet-3-5|3-5-sonnet", replace(_CLAUDE, tail=4)),
    _row(r"claude", _CLAUDE),
)
_OPENAI_SETTINGS = (
    Setting("key", "tools", ("prompt_cache_key",)),
    Setting("service-tier", "tools", ("service_tier",)),
    Setting("text-format", "tools", ("text", "format")),
    Setting("text-format", "tools", ("response_format",)),
    Setting("thinking", "tools", ("reasoning", "effort")),
    Setting("thinking", "tools", ("reasoning_effort",)),
    Setting("verbosity", "tools", ("text", "verbosity")),
    Setting("verbosity", "tools", ("verbosity",)),
)
_GPT_5_6 = Marks(
    minimum=1024,
    lifetime=30 * MINUTE,
    longest=12 * HOUR,
    look_back=None,
    most_searched=80,
    implicit=True,
    needs_key=True,
    default_lifetime="30m",
    settings=_OPENAI_SETTINGS,
)
_GPT_GRID = Grid(
    name="grid of 128",
    step=128,
    minimum=1024,
    lifetime=5 * MINUTE,
    longest=24 * HOUR,
    settings=tuple(one for one in _OPENAI_SETTINGS if one.cause in ("text-format", "key")),
)
OPENAI: CacheTable = (
    _row(r"gpt-oss", Grid(name="grid of 128", step=128, longest=2 * HOUR)),
    _row(r"gpt-(5-[6-9]|[6-9]|\d\d)", _GPT_5_6),
    _row(r"gpt-(4o|4-1|4-5|5)|chatgpt-4o|(^|[/.-])o[1-9]|codex", _GPT_GRID),
)
_NOVA_SETTINGS = (Setting("tool-choice", "tools", ("tool_choice",)),)
NOVA: CacheTable = (_row(r"nova", replace(_CLAUDE, minimum=1000, settings=_NOVA_SETTINGS)),)
GEMINI: CacheTable = (
    _row(r"gemini-[12].*pro", Unpromised(minimum=2048, keeps_reasoning=False)),
    _row(r"gemini-[12]", Unpromised(minimum=1024, keeps_reasoning=False)),
    _row(r"gemini.*pro", Unpromised(minimum=2048)),
    _row(r"gemini", Unpromised(minimum=1024)),
)
VERTEX_GEMINI: CacheTable = tuple((pattern, replace(rule, keeps_reasoning=False)) for pattern, rule in GEMINI)
"""Of 39 recorded answers of Gemini 3 Flash on Vertex, none had its thoughts in the next prompt."""
DEEPSEEK: CacheTable = (_row(r"deepseek", Units(name="units", step=128, longest=24 * HOUR)),)
XAI: CacheTable = (_row(r"grok", Grid(name="grid of 64", step=64, longest=24 * HOUR, keeps_reasoning=False, own=128)),)
"""Each of 59 recorded requests of its Responses reads 128 tokens or more, also the first ones, and those that have
nothing in common with others. A prompt of seven words counts as 199 tokens."""
XAI_CHAT: CacheTable = (_row(r"grok", Unpromised(keeps_reasoning=False)),)
"""Chat Completions of xAI: no recorded read is a number of whole steps (0 of 6; of its Responses all 82 are)."""
MISTRAL: CacheTable = (_row(r"", Grid(name="grid of 16", step=16, longest=24 * HOUR)),)
OPEN: CacheTable = (_row(r"", Unpromised()),)
"""For an API that reads a cache and does not say how."""
GROQ: CacheTable = (_row(r"gpt-oss|kimi", Grid(name="grid of 128", step=128, lifetime=2 * HOUR, longest=2 * HOUR)),)
VLLM: CacheTable = (_row(r"", Grid(name="grid of 16", step=16, longest=24 * HOUR)),)
SLOT: CacheTable = (_row(r"", Slot()),)
_MISTRAL_MODELS = regex(r"mistral|magistral|devstral|codestral|ministral|pixtral")
FAMILIES: CacheTable = (*CLAUDE, *OPENAI, *GEMINI, *DEEPSEEK, *XAI, (_MISTRAL_MODELS, MISTRAL[0][1]))
"""For a gateway, which has the cache of the model's vendor."""


def rule_for(table: CacheTable, model: str | None) -> CacheRule | None:
    """The rule of a model; None when nothing is known of its cache."""
    name = (model or "").lower().replace(".", "-")
    return next((rule for pattern, rule in table if pattern.search(name)), None)
