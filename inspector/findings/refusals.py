"""What an API refused a request for: its status, and what its sentence names, decide together.

The sentences are those of public documentation, SDK sources and issues, collected 2026-11-22. An unknown sentence is
judged by its status alone.
"""

import re
from typing import Literal

from turntape.cassettes.regex import regex

type Refusal = Literal[
    "overloaded",
    "rate",
    "too_large_for_rate",
    "period",
    "quota",
    "connection",
    "key",
    "account",
    "credit",
    "region",
    "model",
    "address",
    "access",
    "firewall",
    "output",
    "request",
]
"""`overloaded`: the API failed or had no capacity. `rate`: a limit of a minute or less; `too_large_for_rate`: one that
the request alone exceeds; `period`: a limit of hours, days or a month; `quota`: what the account may use at all;
`connection`: how long one connection may stay open.
`key`, `account` (permission or state), `credit` (money), `region`, `model`, `address`: what was not accepted; `access`:
one of these. `firewall`: something before the API stopped it. `output`: what the model emitted. `request`: anything
else."""

LIMITS: frozenset[Refusal] = frozenset({"rate", "too_large_for_rate", "period", "quota", "connection"})
ACCESS: frozenset[Refusal] = frozenset({"key", "account", "credit", "region", "model", "address", "access", "firewall"})

_SERVER_FAULTS = frozenset({408, 424})
"""Statuses below 500 that say that the server failed."""
_ACCESS_STATUSES = frozenset({401, 402, 403, 404, 410, 451, 498})
_BY_STATUS: dict[int, Refusal] = {401: "key", 402: "credit"}
_MAY_NAME_RATE = frozenset({400, 403, 413})
"""Statuses under which some APIs report a rate limit."""


_MAY_BLOCK = frozenset({403, 405, 429, 503})
"""Statuses of the pages that firewalls and proofs of a person have."""
_MAY_MISS = frozenset({404, 410})
_MODEL_WORD = regex(r"\bmodel|deployment", re.IGNORECASE)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return regex("|".join(patterns), re.IGNORECASE)


_OUTPUT = _any_of(
    r"tool_use_failed",
    r"json_validate_failed",
    r"failed_generation",
    r"tool call validation failed",
    r"failed to (?:call a function|generate json)",
    r"model did not call a tool",
    r"error parsing tool call",
    r"failed to parse tool call arguments",
    r"xml syntax error on line",
    r"model produced invalid",
    r"no valid tool call or response",
)
_RATE = _any_of(
    r"\brate[ _-]?limit|rate_limit",
    r"\bRPM\b|\bTPM\b|\bRPD\b|\bTPD\b",
    r"\b(?:requests|tokens|calls) ?(?:per|/) ?(?:second|minute|min|hour|day|month)\b",
)
_TOO_FAST = _any_of(r"too many (?:requests|tokens)", r"throttl", r"concurrency")
_CONNECTION_OVER = _any_of(
    r"websocket_connection_limit_reached",
    r"\bsession_expired\b",
    r"(?:connection|session)\b.{0,40}\bmaximum duration",
)
_SHORT = _any_of(
    r"per[ _-]?(?:second|minute|min)\b|PerMinute", r"\bTPM\b|\bRPM\b", r"/ ?(?:second|minute|min)\b", r"retryDelay"
)
_PERIOD = _any_of(
    r"per[ _-]?(?:day|week|month)|ByDay\b",
    r"\bTPD\b|\bRPD\b",
    r"/ ?(?:day|month)\b",
    r"\bdaily\b|\bmonthly\b",
    r"\d+[ -]?hours?\b",
    r"usage[ _]limit",
)
_MONEY = _any_of(
    r"insufficient_quota|service quota",
    r"spend(?:ing)?[ _]limit|ramp_limit|budget",
    r"credit|\bbalance\b|recharge",
)
_QUOTA = _any_of(
    r"billing", r"exceeded (?:your )?current (?:\w+ )?quota|exceeded_current_quota", r"free allocated quota"
)
_CAPACITY = _any_of(
    r"overload",
    r"(?:no|at|flex tier|insufficient|out of) ?capacity|capacity_exceeded",
    r"high (?:demand|traffic)",
    r"(?:server|system) is (?:too )?busy|server busy",
    r"currently loading",
)
_LARGER = regex(r"limit:? (\d[\d,]*).{0,60}?requested:? (\d[\d,]*)", re.IGNORECASE | re.DOTALL)
_PAGE_IS_MISSING = _any_of(
    r"invalid url",
    r"no static resource",
    r"cannot (?:post|get) /",
    r"\A\W*(?:404 )?(?:page |resource |route )?not found\W*\Z",
    r"no route matched",
    r"could not route to",
    r"unknown request url",
)
_NAMED: tuple[tuple[Refusal, re.Pattern[str]], ...] = (
    (
        "region",
        _any_of(
            r"unsupported_country",
            r"(?:country|region|territory|location)\b.{0,20} (?:is |are )?not (?:supported|available)",
        ),
    ),
    (
        "credit",
        _any_of(
            r"credit balance|(?:insufficient|account) (?:account )?balance|insufficient[_ ](?:credits?|funds|quota)",
            r"(?:more|any|available|included|out of|enough|prepaid) credits",
            r"credit limit|credits? (?:exhausted|depleted)",
            r"exceeded (?:your )?.{0,20}quota|billing|spend(?:ing)?[ _]limit|monthly spend",
            r"usage limits?|overdue|arrear|account is in good|payment",
            r"budget.{0,30}exceeded|exceeded.{0,30}budget|budgetexceeded",
            r"free tier .{0,60}exhausted|freetieronly",
            r"service quota|premium request",
        ),
    ),
    (
        "model",
        _any_of(
            r"model_not_found|model_not_supported|model_not_available|deploymentnotfound|invalid_model|unknown_model",
            r"\A\W*(?:\w+ ){0,3}model: [\w./:-]+\W*\Z",
            r"(?:no such|unknown|invalid|unsupported) model\b(?! (?:output|response))",
            r"models?\b.{0,120}? (?:does not exist|doesn't exist|do not exist|(?:is |was |were )?not found)",
            r"models?\b[^.]{0,120}? (?:was removed|deprecated|decommissioned|retired)",
            r"models?\b[^.]{0,120}? no longer (?:available|supported)",
            r"model (?:version )?has reached",
            r"not a valid model|model identifier is invalid|supported api model names",
            r"not supported by any provider|requested model is not supported",
            r"access to (?:the |this )?model|do(?:es)? not have access to it",
            r"with on-demand throughput|no models? (?:is |are )?loaded",
            r"deployment\b[^.]{0,60} (?:does not exist|not found)",
            r"model (?:is )?not (?:exist|available)",
        ),
    ),
    (
        "account",
        _any_of(
            r"not authorized to|not allowed to|access ?denied|permission",
            r"organization\b.{0,60} (?:restricted|disabled|verified)|organization_restricted",
            r"account\b.{0,60} (?:suspended|deactivated|disabled|not authorized|blocked)",
            r"(?:private endpoint|public access is disabled)",
            r"has not been used in project|requests to this api .{0,120} are blocked",
            r"operation not allowed|no endpoints found matching your data policy",
        ),
    ),
)
"""What a sentence names. Under 400, only these and a wrong key show that the request itself is not at fault."""
_KEY = _any_of(
    r"(?:incorrect|invalid|wrong|bad) (?:x-)?(?:api|subscription|access)[ _-]?(?:key|token)",
    r"(?:invalid|bad|missing|expired) (?:credentials|authentication|proxy server token)",
    r"api[ _-]?key (?:is |was |has )?(?:not valid|invalid|expired|missing|required|reported|disabled|revoked)",
    r"api_key_invalid|invalid_api_key|authentication_error|unrecognizedclient|expiredtoken",
    r"(?:provide|pass|use) (?:an?|a valid) api key|security token|unregistered callers",
    r"api key (?:not found|expired)|token (?:has )?expired|oauth|credential is only authorized",
)


_STARTS = _any_of(
    r"model_?not_?ready|model is not (?:yet )?(?:ready|loaded)|warming up|cold start",
    r"(?:model|server|instance|endpoint|deployment)\b.{0,60} (?:is|are) (?:currently )?"
    r"(?:loading|starting|being loaded|scaling)",
    r"loading model",
)
"""What a server says that is about to be ready. Some say it under the status of a rate limit."""
_BROKE = _any_of(
    r"(?:model|server|worker|runner|engine|process|backend)\b.{0,30} (?:has |have |was |were )?"
    r"(?:crashed|died|terminated|unloaded|stopped unexpectedly)",
    r"\bmodel unloaded|failed to load (?:the )?model|out of memory|CUDA error|segmentation fault|core dumped",
)
"""How a server says that it broke, under whatever status."""
_FIREWALL = _any_of(
    r"just a moment\.\.\.|cf-mitigated|challenge-platform|cf-chl|attention required|cloudflare ray id",
    r"verify(?:ing)? (?:that )?you are (?:a )?human|captcha|are you a robot|enable javascript and cookies",
    r"request (?:was |has been )?blocked|you have been blocked|access denied.{0,200}reference ?#",
    r"incapsula|sucuri|akamai",
)
_OTHER_THING = _any_of(
    r"\b(?:file|batch|response|item|conversation|thread|assistant|run|vector[ _]store|container|skill|session|prompt|"
    r"cached[ _]?content|message|upload|document|agent|environment)s?\b[^.]{0,80}?"
    r"(?:not found|does not exist|doesn't exist|(?:has |have |was |were |is )?(?:expired|deleted|been deleted))",
    r"\bno (?:such )?(?:file|batch|response|item|conversation|thread|container|session|prompt|cached ?content)\b",
)
"""What a request names beside the model, and the API does not have."""


_SETTING = _any_of(
    r"\brequires? (?:the )?--\w",
    r"(?:start|launch|run|serve)(?:ed|ing)?\b.{0,60} (?:with|without) [`'\"]?--\w",
    r"(?:set|enable|enabled with|use|using|pass|passing|specify|via|increase) (?:the )?[`'\"]?--\w[\w-]+",
    r"--\w[\w-]*[`'\"]? (?:to be set|flag|option|argument|must be set|is not set|was not set)",
    r"chat template\b.{0,120}\b(?:no longer allowed|not (?:set|defined|provided|found|specified))",
    r"tokenizer\.chat_template is not set|does not have a chat template|no chat template|must provide a chat template",
    r"(?:start|launch|run) (?:the |your )?server with",
)
"""How a server says that it was started without what the request needs: an option, or the model's chat template."""


def lacks_setting(message: str) -> bool:
    """True when the sentence says that the server, and not the request, lacks a setting."""
    return _SETTING.search(message) is not None


def refusal(status: int, message: str, code: str = "", *, page: bool = False, details: str = "") -> Refusal:
    """Why the API answered with this status.

    `code` holds the error's type and code, `details` the rest of a limit's answer; `page` is True for an HTML page.
    """
    said = f"{code} {message}"
    if _OUTPUT.search(said):
        return "output"
    if lacks_setting(message):
        return "request"
    if _CONNECTION_OVER.search(said):
        return "connection"
    if page and status in _MAY_BLOCK and _FIREWALL.search(message):
        return "firewall"
    if (status == 429 or status >= 500) and _STARTS.search(said):
        return "overloaded"
    if status == 429 or (status in _MAY_NAME_RATE and _RATE.search(said)):
        return _limit(f"{said} {details}")
    broke = status >= 500 or status in _SERVER_FAULTS or _BROKE.search(said) is not None
    if broke or (status == 498 and _CAPACITY.search(said)):
        return "overloaded"
    if status == 404 and (page or _PAGE_IS_MISSING.search(message)):
        return "address"
    if status in _MAY_MISS and _OTHER_THING.search(message) and not _MODEL_WORD.search(message):
        return "request"
    if _KEY.search(said):
        return "key"
    for kind, pattern in _NAMED:
        if pattern.search(said):
            return kind
    return _BY_STATUS.get(status, "access") if status in _ACCESS_STATUSES else "request"


def _limit(said: str) -> Refusal:
    """Which limit was reached, in a request that was refused for one."""
    found = _LARGER.search(said)
    if found is not None and _number(found[2]) > _number(found[1]):
        return "too_large_for_rate"
    period = _PERIOD.search(said) is not None
    if _SHORT.search(said) and not period:
        return "rate"
    if _MONEY.search(said):
        return "quota"
    if period:
        return "period"
    if _QUOTA.search(said):
        return "quota"
    return "overloaded" if _CAPACITY.search(said) and not (_RATE.search(said) or _TOO_FAST.search(said)) else "rate"


def _number(text: str) -> int:
    return int(text.replace(",", ""))


_OF_THE_ANSWER = regex(r"\b(?:output|generated|generation|completion)\b", re.IGNORECASE)
_OF_THE_PROMPT = regex(r"\b(?:input|prompt|request)\b", re.IGNORECASE)


def filtered_side(message: str) -> str:
    """What a filter stopped, according to the error that it gave: the prompt, the answer, or one of them."""
    if not _OF_THE_ANSWER.search(message):
        return "the prompt"
    return "the prompt or the answer" if _OF_THE_PROMPT.search(message) else "the answer"
