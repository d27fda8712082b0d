"""The answers of the scripted LLM in the wire shape of each API."""
