"""From bytes to a reading: framing, protocols, and the registry that chooses between them."""
