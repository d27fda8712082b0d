"""The words of a matching setting: profiles, and the rule for one field."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

type Rule = Literal["fail", "warn", "ignore"]
"""`fail`: a request that differs here is not answered. `warn`: it is answered, and the difference is reported.
`ignore`: the difference does not count."""

type Profile = Literal["strict", "ordered"]
"""`strict`: only an equal request is answered. `ordered`: the order of turns decides, and differences are reported."""

DEFAULT_RULES: Mapping[str, Rule] = MappingProxyType({"strict": "fail", "ordered": "warn"})
"""For each profile, the rule for a field without a rule of its own."""

PROFILES: tuple[str, ...] = get_args(Profile.__value__)
RULES: tuple[str, ...] = get_args(Rule.__value__)
