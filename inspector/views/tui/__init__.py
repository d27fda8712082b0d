"""The viewer in the terminal: an app whose widgets show values from `pages`."""
