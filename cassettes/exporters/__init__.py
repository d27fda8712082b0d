"""Round trips in the formats of other tools that keep bytes."""
