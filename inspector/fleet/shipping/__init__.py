"""Puts recordings and their rows into a store, once each, and again when that failed."""
