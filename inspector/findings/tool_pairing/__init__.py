"""Pairing the calls and results of a request: which call has no result, which result no call, which is misplaced."""
