"""Which recording answers a request: keys, fingerprints, ignored fields and the difference that is left."""
