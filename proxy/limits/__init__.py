"""Limits: how many turns and dollars a run may take, and the addon that ends it there."""
