"""Quota of domains and projects: whether it may be set, setting and pushing it, its history, and quota for a time."""
