"""Requests for more quota: who may decide, what becomes of them, and whom they reach."""
