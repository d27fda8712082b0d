"""Recordings of other tools, read as round trips. One module a format; `registry.FORMATS` is the table."""
