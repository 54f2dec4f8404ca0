"""The account of what was used and committed over time (docs/adr/0032)."""
