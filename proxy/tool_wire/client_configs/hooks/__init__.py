"""What is loaded into a client's own process; each file stands alone there."""
