"""Mutation testing: one-line mistakes are put into a module, one at a time, and its own tests must notice.

`make mutants` runs it; it is not part of CI. No tool from the registry fits: mutmut 3 changes nothing outside
functions, so no row of any table, and the others start one interpreter for each mistake, which takes hours here.
"""
