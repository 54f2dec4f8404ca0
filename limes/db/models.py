"""The Limes half's tables as peewee models."""
