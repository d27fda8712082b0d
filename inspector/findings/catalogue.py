"""The active rules: turntape's own, those of installed packages, and those that the project names.

All are loaded in the same way. A package declares the entry point

    [project.entry-points."turntape.rules"]
    acme = "acme_turntape.rules"

and a project may name modules in `turntape.toml` or `[tool.turntape]`: `rules = ["acme_agent.rules"]`. Either names a
module with a table `RULES`, or (`module:name`) such a table. What cannot be loaded is left out and reported.
"""

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from turntape.cassettes.apis.installed import entry_points
from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.settings import read_settings

from .rule import Rule

GROUP = "turntape.rules"
OWN = "turntape.inspector.findings.rules"
"""turntape's own table: the value of our entry point, and what is loaded where no metadata is installed."""

log = logging.getLogger(__name__)


@frozen
class Catalogue:
    """The rules, own ones first, and what could not be loaded."""

    rules: tuple[Rule, ...]
    problems: tuple[str, ...] = ()
    """One sentence each."""


@cache
def catalogue() -> Catalogue:
    """The rules of this process; read once, from the entry points and the settings in the working directory."""
    problems: list[str] = []
    places = list(_places(problems))
    rules = tuple(_joined(((place, _load(place, problems)) for place in places), problems))
    for problem in problems:
        log.warning("turntape: %s", problem)
    return Catalogue(rules, tuple(problems))


def _places(problems: list[str]) -> Iterator[str]:
    """Where tables of rules are, as `module` or `module:name`, each once."""
    declared = sorted((point.name, point.value) for point in entry_points(group=GROUP))
    named: tuple[str, ...] = ()
    try:
        named = read_settings().rules
    except CassetteError as exc:
        problems.append(f"rules of this project are not used: {exc}")
    yield from dict.fromkeys([OWN, *(value for _, value in declared), *named])


def _load(place: str, problems: list[str]) -> tuple[Rule, ...]:
    """The rules at a place; none, and a sentence in `problems`, when it cannot be loaded."""
    module, _, name = place.partition(":")
    try:
        table = getattr(import_module(module.strip()), name.strip() or "RULES")
        rules = tuple(table)
    except Exception as exc:  # noqa: BLE001 - whatever a foreign module raises must not stop the others
        problems.append(f"the rules of {place!r} are not used: {type(exc).__name__}: {exc}")
        return ()
    strange = next((one for one in rules if not isinstance(one, Rule)), None)
    if strange is not None:
        problems.append(
            f"the rules of {place!r} are not used: its table holds {strange!r:.80}, which is not a rule; "
            "make rules with turntape.inspector.extending.rule"
        )
        return ()
    return rules


def _joined(tables: Iterable[tuple[str, tuple[Rule, ...]]], problems: list[str]) -> Iterator[Rule]:
    """All rules; an id, also a former one, belongs to the first table that has it."""
    owners: dict[str, str] = {}
    for place, rules in tables:
        refused: dict[str, str] = {}
        for rule in rules:
            taken = next((name for name in (rule.id, *rule.aliases) if owners.get(name, place) != place), None)
            if taken is not None:
                refused.setdefault(rule.id, taken)
        for name, taken in refused.items():
            problems.append(
                f"the rule {name!r} of {place!r} is not used: {owners[taken]!r} has a rule of "
                + ("that id; rename it" if taken == name else f"the id {taken!r}; rename it")
            )
        kept = [rule for rule in rules if rule.id not in refused]
        for rule in kept:
            for name in (rule.id, *rule.aliases):
                owners.setdefault(name, place)
        yield from kept


def forget() -> None:
    """Read the rules again on the next use: for tests, and after a package was installed."""
    catalogue.cache_clear()
