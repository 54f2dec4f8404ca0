"""The dashboard at `/ui`: a page that uses the public API, and the sign-in.

The sources of the page are in `frontend/`, what is built of them in `static/` (README.md).
"""
