"""The fault bench: clean agent loops of every protocol, and one fault in one layer of each.

`python -m bench.faults` records every clean loop and every faulty one, has turntape read them, and prints how many
faults it found and whether it blamed the right layer. Where the recorded corpus is, it does the same with loops of
real APIs (`recorded/`).
"""
