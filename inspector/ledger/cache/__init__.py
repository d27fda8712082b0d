"""The prompt cache: what the provider's rules expect of each turn, what happened, and why a part was missed."""

from .misses import with_price
from .predictor import CachePredictor

__all__ = ["CachePredictor", "with_price"]
