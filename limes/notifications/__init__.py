"""Notifications, by mail and webhook."""
