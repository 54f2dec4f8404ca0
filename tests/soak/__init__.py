"""A long run of everything at once, with kills: `make soak`."""
