"""The plugin `object-store`: what Swift stores for a project. docs/plugins/object-store.md."""

from limes.backends import Offer, Plugin
from limes_plugins.object_store.params import ObjectStoreParams
from limes_plugins.object_store.service import ObjectStoreService

plugin = Plugin("Capacity and containers of Swift accounts.", quota=Offer(ObjectStoreParams, ObjectStoreService))
