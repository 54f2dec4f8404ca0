"""What the API answers: each document is a struct, which is type-checked, described in OpenAPI and written as JSON.

Each module has the structs of one noun, and how they are made of figures.
"""
