"""Faults of every kind against real processes. `make faults` tries each many times; the ordinary suite tries it once."""
