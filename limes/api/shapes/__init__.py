"""What answers look like, as types. The OpenAPI document is made from them; tests hold each answer against it."""
