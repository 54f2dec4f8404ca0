"""What models share: durations, problems in words for an operator, and the form of documents that the API shows."""
