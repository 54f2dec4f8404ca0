"""What plugins for OpenStack services have in common: requests, pages, microversions, lists for all projects."""
