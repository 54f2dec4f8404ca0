"""The OpenAPI document of the Limes API, made from the types that parse requests and describe answers."""
