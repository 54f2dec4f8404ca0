"""Which tests run on the same worker of pytest-xdist: those of a file, and those of all files that use the cloud."""

from xdist.scheduler import LoadFileScheduling

_CLOUD = (
    "tests/backends/test_network.py",
    "tests/backends/test_nova.py",
    "tests/backends/test_object_store.py",
    "tests/backends/test_volume.py",
    "tests/integration/whole/test_backend_errors.py",
    "tests/integration/whole/test_cloud.py",
)
"""The files whose tests need the fixtures of `tests/support/cloud.py`: each worker would start the servers again."""


class OneWorkerForTheCloud(LoadFileScheduling):  # type: ignore[misc]  # xdist's types are not followed
    """Gives out tests file by file, with the files of the cloud as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return "cloud" if file in _CLOUD else file
