"""Real clients on both routes: recorded, labelled, and replayed with the upstream gone. `make clients` runs it."""
