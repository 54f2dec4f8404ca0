"""Puts the house together from its configuration: the only place that knows all rooms."""
