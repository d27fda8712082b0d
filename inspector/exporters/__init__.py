"""Runs in the formats of other tools that keep meaning: each module turns round trips into one of them."""
