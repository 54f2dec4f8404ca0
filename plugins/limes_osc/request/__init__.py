"""`limes request`."""
