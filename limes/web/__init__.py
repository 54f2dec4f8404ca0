"""What all HTTP apps do around a request: ids, log, metrics, connection, token; and gunicorn's worker."""
