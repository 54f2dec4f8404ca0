"""From when to when subresources existed."""
