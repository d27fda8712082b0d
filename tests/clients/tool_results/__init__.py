"""What real clients do to the results of tool servers before the model sees them; docs/what-clients-do.md."""
