"""Moving here from the Go Limes: its configuration file becomes ours, and its PostgreSQL database is copied.

The other's tables are read as they are (`layout` knows their shape, release by release), in one snapshot. Everything is
written in one transaction, read again and compared (`compare`), and only then kept: so an import that was interrupted
has left nothing, and a dry run is an import that is taken back.
"""
