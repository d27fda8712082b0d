"""The process that labels round trips while they are recorded, and the client that starts it."""
