"""The audit: who changes things, CADF events about it, and where these go."""
