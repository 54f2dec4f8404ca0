"""Notifications as mail: who gets them (`queue_mails`), how they become mails and are sent (`send_mails`)."""
