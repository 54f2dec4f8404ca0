"""The use cases of commitments. What they share is in `ledger`."""
