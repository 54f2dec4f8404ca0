"""The collector: its loop and jobs, discovery in Keystone, and scrapes of usage and capacity."""
