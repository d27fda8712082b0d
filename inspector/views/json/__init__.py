"""The views for programs: `show --json` and the formats of `check`."""
