"""Replicate predictions."""
