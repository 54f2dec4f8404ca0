"""Builds each process from the configuration. The only package that knows all others."""
