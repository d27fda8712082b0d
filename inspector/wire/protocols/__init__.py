"""One folder or file for each API. `registry.py` in the folder above lists them."""
