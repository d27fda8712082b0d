"""How well a fleet of recorders ships, and how fast its rows are read."""
