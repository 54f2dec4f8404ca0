"""What everything else stands on: time, errors, logs, units. It knows no feature."""
