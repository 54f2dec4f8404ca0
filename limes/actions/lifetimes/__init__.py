"""Lifetimes of subresources: written at each scrape, shown to billing systems, and deleted when they are old."""
