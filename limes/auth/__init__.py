"""Who makes a request: tokens, sample identities, our own login, and the policy."""
