"""Reads recordings of other tools as round trips. One module for each format; `registry.FORMATS` is the table."""
