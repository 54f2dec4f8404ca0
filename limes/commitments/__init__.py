"""Commitments: what they are, whether there is capacity, making and changing them, and how they are used."""
