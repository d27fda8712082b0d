"""Recorded tool servers: what they said, which recorded call answers a call, and what a played server says when."""
