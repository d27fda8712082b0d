"""Suites of other projects, moved from vcrpy: how many tests that pass with vcrpy pass afterwards."""
