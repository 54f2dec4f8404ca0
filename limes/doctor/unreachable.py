"""What to do about a database, or a server, that cannot be reached, by what is said of it."""

import re

from limes.db.address import DatabaseAddress

_CONNECTION = (
    (
        r"password authentication failed|no password supplied|fe_sendauth",
        "give the right password (LIMES_DB_PASSWORD), or set it there: ALTER ROLE {user} PASSWORD '...'",
    ),
    (r'role ".*" does not exist', "make the user there: createuser {user}; or correct the user in database.url"),
    (r'database ".*" does not exist', "make it: createdb -O {user} {name}; or correct the name in database.url"),
    (r"no pg_hba\.conf entry|Ident authentication|Peer authentication", "let {user} in by a line of pg_hba.conf"),
    (
        r"too many clients|too many connections|remaining connection slots",
        "raise max_connections of PostgreSQL, or lower database.pool_size and the numbers of workers",
    ),
    (r"translate host name|Name or service not known", "correct the host in database.url, or have DNS know it"),
    (
        r"SSL|certificate|TLS",
        "say in database.url how to speak TLS: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem",
    ),
    (
        r"refused|timeout|timed out|unreachable|No such file|No route",
        "start PostgreSQL there, have it listen on that address (listen_addresses), or correct database.url;"
        " look at firewalls between",
    ),
    (r"read-write|read-only", "none of the servers named in database.url is the primary: name that one as well"),
)


def mend_connection(reason: str, address: DatabaseAddress) -> str:
    """What to do, from the line that the driver says."""
    if address.dialect == "sqlite":
        return f"let our user read and write {address.name}, or restore it from a backup if it is damaged"
    for pattern, mend in _CONNECTION:
        if re.search(pattern, reason, re.IGNORECASE):
            return mend.format(user=address.options.get("user", "limes"), name=address.name)
    return "correct database.url; psql with the same values should say the same"
