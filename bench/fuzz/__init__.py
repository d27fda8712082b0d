"""`make fuzz`: mutated traffic and mutated files through every reader; each input comes again from its number."""
