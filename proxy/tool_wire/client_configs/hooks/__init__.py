"""What is loaded into a client's own process; each file uses nothing of turntape."""
