"""The prompt cache: what the provider's rules expect of each turn, what happened, and why a part was missed."""

from .model import CacheEntry, Expectation, Miss
from .predictor import CachePredictor, rule_of

__all__ = ["CacheEntry", "CachePredictor", "Expectation", "Miss", "rule_of"]
