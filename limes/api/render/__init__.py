"""From figures to the JSON documents of the API document, field by field with its presence rule."""
