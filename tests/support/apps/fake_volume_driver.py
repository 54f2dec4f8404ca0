"""A volume driver for the real Cinder that stores nothing, and reports pools as its backend's configuration says."""

from typing import Any

from cinder.volume import driver
from oslo_config import cfg

OPTIONS = [cfg.IntOpt("fake_total_gb", default=100)]
cfg.CONF.register_opts(OPTIONS)


class FakeDriver(driver.VolumeDriver):
    """Everything succeeds at once."""

    VERSION = "1"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.configuration.append_config_values(OPTIONS)

    def _nothing(self, *args: Any, **kwargs: Any) -> None:
        return None

    check_for_setup_error = create_volume = delete_volume = create_snapshot = delete_snapshot = _nothing
    create_export = ensure_export = remove_export = create_volume_from_snapshot = create_cloned_volume = _nothing
    initialize_connection = terminate_connection = _nothing

    def get_volume_stats(self, refresh: bool = False) -> dict[Any, Any]:
        name = self.configuration.safe_get("volume_backend_name")
        total = self.configuration.safe_get("fake_total_gb")
        pool = {
            "pool_name": "pool1",
            "total_capacity_gb": total,
            "free_capacity_gb": total,
            "provisioned_capacity_gb": 0,
            "allocated_capacity_gb": 0,
            "max_over_subscription_ratio": 1.0,
            "reserved_percentage": 0,
        }
        common = {"driver_version": "1", "storage_protocol": "fake", "vendor_name": "test"}
        return {"volume_backend_name": name, **common, "pools": [pool]}
