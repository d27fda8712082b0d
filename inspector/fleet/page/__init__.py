"""The runs of the last days at a glance: as text for a terminal, and as one page without a server."""
