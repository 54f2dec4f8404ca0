"""Quota that follows usage and commitments."""
