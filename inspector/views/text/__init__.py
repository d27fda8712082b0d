"""The views as text for a terminal."""
