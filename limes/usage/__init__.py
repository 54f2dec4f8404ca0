"""What projects use: figures, the sums of them that are kept, and the tasks that refresh them."""
