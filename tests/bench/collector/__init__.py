"""Measures the collector: 10,000 projects in 5 services with 10 resources each, that is 50,000 project services."""
