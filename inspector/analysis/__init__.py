"""From readings to a run: threads, dispatch, history, labels, cost."""
