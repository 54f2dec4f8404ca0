"""The shipped plugins."""
