"""Our backend plugins behind the LIQUID protocol, for other quota managers. Needs no database."""

SERVICE_VARIABLE = "LIMES_LIQUID_SERVICE"
"""Tells the processes that the command starts which service they serve."""
LISTEN_VARIABLE = "LIMES_LIQUID_LISTEN"
