"""Moving here from the Go Limes: converts its configuration file, and copies its PostgreSQL database.

Its tables are read in one snapshot (`layout` knows their shape, release by release). Everything is written in one
transaction, read again and compared (`checks`), and only then committed. So an interrupted import leaves nothing, and a
dry run is an import that is rolled back.
"""
