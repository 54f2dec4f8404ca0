"""Composition roots: settings -> database -> collaborators -> Falcon app."""
