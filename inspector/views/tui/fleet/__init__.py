"""The screen of a team's runs: cost and findings in groups, and the runs of each, which open in the viewer."""
