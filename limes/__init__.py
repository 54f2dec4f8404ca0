"""Limes: quota and commitments for OpenStack clouds, with a complete Placement API built in."""

__version__ = "1.0.0"
