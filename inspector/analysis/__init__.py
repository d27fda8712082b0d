"""From readings to a conversation: threads, dispatch, history, prices."""
