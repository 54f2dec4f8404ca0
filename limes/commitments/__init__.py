"""The use cases of commitments: functions that run in one transaction each, and share the `store`."""
