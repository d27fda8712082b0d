"""What the viewer does, as plain objects: each has a narrow interface, and posts messages about what happens later."""
