"""Domains and projects: how they are found, and what is known of them."""
