"""The run in the terminal: an app of widgets that show the values that `pages` makes."""
