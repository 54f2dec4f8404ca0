"""The configuration file of the Go Limes becomes ours; what has no counterpart is named."""
