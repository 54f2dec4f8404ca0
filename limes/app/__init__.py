"""The processes: what they consist of, their commands and settings. It knows all features."""
