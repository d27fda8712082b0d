"""Completion scripts for bash, zsh and fish, generated from the parsers. They start no Python on Tab."""
