"""The prompt cache: what the provider's rules expect of each turn, what happened, and why a part was missed."""

from .misses import with_price
from .predictor import CachePredictor, rule_of

__all__ = ["CachePredictor", "rule_of", "with_price"]
