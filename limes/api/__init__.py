"""What handlers of all features share: calls, parameters, policy rules, preconditions, OpenAPI."""
