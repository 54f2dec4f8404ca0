"""What there is to manage: services, resources, capacity, availability zones, and how resources behave."""
