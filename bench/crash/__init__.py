"""`make crash`: what is left of a recording after kill -9, a full disk, a changed file, and a clock that jumps."""
