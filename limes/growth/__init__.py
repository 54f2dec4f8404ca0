"""How usage, quota, commitments and capacity grow, and when they are exhausted (docs/adr/0033)."""
