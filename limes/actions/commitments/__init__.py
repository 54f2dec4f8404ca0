"""The use cases of commitments: frozen dataclasses of collaborators, whose methods run in one transaction each.

They share the `ledger`.
"""
