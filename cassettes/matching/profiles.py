"""The profiles and the rules of a matching setting, and which rule a profile gives to a field."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from ..settings import Profile, Rule

DEFAULT_RULES: Mapping[str, Rule] = MappingProxyType({"strict": "fail", "ordered": "warn", "sequence": "warn"})
"""For each profile, the rule for a field without an explicit rule."""

PROFILES: tuple[str, ...] = get_args(Profile.__value__)
RULES: tuple[str, ...] = get_args(Rule.__value__)
