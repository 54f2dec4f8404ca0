"""Mail: templates, the servers that take it, links to unsubscribe, and addresses from Keystone.

Knows nothing of the database. What all servers promise is in `mailer`.
"""
