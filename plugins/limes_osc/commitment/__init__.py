"""`limes commitment`."""
