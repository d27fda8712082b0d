"""Tool runs: what tools were asked and gave on their own wire, joined to the calls and results of the model's wire."""
