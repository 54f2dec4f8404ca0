"""Mail: templates, what takes it (`mailer` is the contract), and addresses from Keystone. Without the database."""
