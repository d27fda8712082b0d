"""Faults in loops of real agent frameworks: each runs as a process behind the proxy, against the scripted server.

The server makes a fault and the framework reacts to it, which is part of the run. Beside that, the healthy loop of each
framework takes the faults that are put into recorded loops. The environments are those of `make clients`.
"""
