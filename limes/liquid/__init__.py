"""The other way round: our backend plugins behind the LIQUID protocol, for other quota managers. Needs no database."""
