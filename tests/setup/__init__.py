"""What makes a machine ready for the tests: `python -m tests.setup GOAL`, which `make` calls. Standard library only."""
