"""The pages of the viewer as values. Nothing here imports Textual."""
