"""The Placement API, usable without the rest."""
