"""Faults put into recorded loops of real APIs, so that the bench knows more than one story.

The loops come from the recorded corpus, which lies beside the repository. What is healthy is decided by simple facts,
and faults are edits of JSON at the documented places of each API. Nothing here uses the reading code of turntape, so a
mistake in that code is not repeated by the bench.
"""
