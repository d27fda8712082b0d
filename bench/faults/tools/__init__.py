"""Faults of clients and tool servers: recorded loops with the wire of their tools beside them.

The wire is made from the loop: each call of an answer is a `tools/call`, and the result is what the next request shows.
A fault is an edit of one of the two wires, so that they contradict each other.
"""
