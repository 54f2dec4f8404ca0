"""Measures how times, statements and memory grow when a cloud becomes ten times as large."""
