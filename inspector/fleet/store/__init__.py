"""A bucket or a folder: how it is opened, what its objects are named, and what may go wrong there."""
