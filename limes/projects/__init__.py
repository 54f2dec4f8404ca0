"""Domains and projects: how they are found, and the tasks that keep what is known of them up to date."""
