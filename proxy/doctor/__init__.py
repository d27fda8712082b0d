"""Why nothing was captured: what `turntape doctor` looks at, one module a question."""
