"""Findings: the rules, the engine that runs them, their documentation, and `check`."""
