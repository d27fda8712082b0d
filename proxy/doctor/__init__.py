"""Why nothing was captured: the checks of `turntape doctor`, one module per question."""
