"""What the tape needs to know of an API: an interface here, implementations through entry points."""
