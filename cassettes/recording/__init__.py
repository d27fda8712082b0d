"""Writing cassettes: the recorder, and the round trips that are still running."""
