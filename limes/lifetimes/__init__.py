"""From when to when subresources were there."""
