"""Labels of projects: keys and values that people give them, and by which lists of projects are filtered."""
