"""What Limes manages: services, resources, capacity, availability zones, and how resources behave."""
