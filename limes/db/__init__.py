"""The database: engine, transactions, queries as functions, migrations, and replicas."""
