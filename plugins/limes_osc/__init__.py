"""`openstack limes ...`: commands for python-openstackclient. See docs/openstack-client.md.

A client of the public API alone: of Limes itself it uses nothing but `limes.kernel.units`.
"""
