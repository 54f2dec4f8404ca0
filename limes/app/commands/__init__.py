"""The sub-commands of `limes`, one module each, with `add_to(commands)`. What is slow is imported when they run."""
