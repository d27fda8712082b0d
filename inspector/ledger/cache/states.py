"""Which cache keeps the state of which rule."""

from collections.abc import Callable, Mapping
from typing import cast

from ...wire.cache_rules import CacheRule, Grid, Marks, Slot, Units, Unpromised
from .automatic import CommonPrefix, GridCache, OpenCache, SlotCache, UnitCache
from .marked import MarkedCache
from .prediction import CacheState
from .prefix_tree import PrefixTree

_STATES: Mapping[type[CacheRule], Callable[[CacheRule, PrefixTree], CacheState]] = {
    Marks: lambda rule, tree: MarkedCache(cast(Marks, rule), tree),
    Grid: GridCache,
    Units: UnitCache,
    Slot: SlotCache,
    Unpromised: OpenCache,
}


def state_of(rule: CacheRule, tree: PrefixTree) -> CacheState:
    """An empty cache that follows a rule."""
    return _STATES.get(type(rule), CommonPrefix)(rule, tree)
