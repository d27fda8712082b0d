"""The rows of a recording: schema version 1, the labels of its environment, and keyed hashes."""
