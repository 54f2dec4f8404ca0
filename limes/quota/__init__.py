"""Quota of domains and projects: the decision whether it may be set, setting it, its history, and quota for a time."""
