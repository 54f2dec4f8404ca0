"""What people are told, by mail and webhook."""
