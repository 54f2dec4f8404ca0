"""Queries on the models, one file per noun. None opens a transaction: use cases do (`limes.actions`)."""
