"""The widgets of the viewer. They show values and post messages; they read no file."""
