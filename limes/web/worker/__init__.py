"""A thread worker for gunicorn that no slow client holds up: README.md. It builds on private methods of gunicorn."""
