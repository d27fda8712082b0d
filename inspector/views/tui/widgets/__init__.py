"""The widgets of the viewer. They show values and post messages; they do not read files."""
