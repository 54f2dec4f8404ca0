"""Commitments: what they are, what may be asked for, and whether there is capacity. Pure functions on plain values."""
