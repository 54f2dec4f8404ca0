"""The use cases of requests for more quota. They share the `store`."""
