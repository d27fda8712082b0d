"""A recorder that runs for long and for many: health and metrics, segments, shipping."""
