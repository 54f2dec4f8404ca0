"""What the models of the configuration and of plugins share: durations, and problems in words for an operator."""
