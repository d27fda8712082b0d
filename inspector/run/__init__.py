"""A run as the views need it: labels, the index of round trips, growth, filters, and the plan of a fork."""
