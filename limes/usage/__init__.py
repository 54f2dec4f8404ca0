"""What projects use: figures, and the sums of them that are kept."""
