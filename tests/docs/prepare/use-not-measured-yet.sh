# the figures of the day are averages: they begin anew, as the collector may have measured before the page bought anything
python3 - var/quickstart.db <<'END'
import sqlite3, sys

with sqlite3.connect(sys.argv[1], timeout=100) as database:
    database.execute("DELETE FROM commitment_use")
END
