"""Measures the Limes API on 5 domains of 1,000 projects, 3 services of 10 resources: 150,000 project resources."""
