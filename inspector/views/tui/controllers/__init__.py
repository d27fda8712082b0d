"""The controllers of the viewer: plain objects with narrow interfaces, which post messages about later events."""
