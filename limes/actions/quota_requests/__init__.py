"""The use cases of requests for more quota: frozen dataclasses, whose methods run in one transaction each.

They share the `desk`.
"""
