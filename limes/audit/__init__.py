"""The audit change_log: who changes things, CADF events about it, and where these go."""
