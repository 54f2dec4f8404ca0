"""The dashboard at `/ui`: a page that speaks with the public API, and the sign-in for it.

The sources of the page are in `frontend/`, what is built of them in `static/` (README.md).
"""
