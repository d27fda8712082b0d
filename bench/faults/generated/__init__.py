"""Faults that nobody thought of: one field, event or chunk of a recorded answer is changed at random, from a seed.

Nothing here knows a rule or reads with the reading code of turntape. What an answer usually looks like is counted in
the healthy loops of the corpus; a change that breaks it can be noticed by a client, and must be found.
"""
