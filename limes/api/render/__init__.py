"""Makes the JSON documents of the API out of figures: each field, and when it is there."""
