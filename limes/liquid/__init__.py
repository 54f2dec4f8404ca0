"""The other way round: our backend plugins behind the LIQUID protocol, for other quota managers. Needs no database."""

SERVICE_VARIABLE = "LIMES_LIQUID_SERVICE"
"""By which the command tells the processes that it starts which service they serve."""
LISTEN_VARIABLE = "LIMES_LIQUID_LISTEN"
