"""`turntape check`: the findings that a recording has, and the budgets that it breaks."""
