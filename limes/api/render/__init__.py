"""Makes the JSON documents of the API from figures: each field, and when it is present."""
