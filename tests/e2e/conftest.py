"""One browser and one cloud for all journeys of a worker. Journeys change the cloud, each in a corner of its own.

Those whose cloud has other settings make one with `new_cloud`, and a fixture `cloud` of their own.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.browser import OpenPage, Watched, watched_page
from tests.e2e.cloud import DashboardCloud, NewCloud
from tests.support.frontend import require_packages
from tests.support.programs import programs as start_programs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for the browser is marked for it, and may take the time that a journey takes on a busy machine."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session", autouse=True)
def axe_core() -> None:
    """What each page is held against."""
    require_packages()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `limes` and `openstack`, which start at once."""
    folder = tmp_path_factory.mktemp("programs")
    with start_programs(folder, folder / "bin"):
        yield folder / "bin"


@pytest.fixture(scope="session")
def new_cloud(browser: Browser, programs: Path, tmp_path_factory: pytest.TempPathFactory) -> NewCloud:
    """`new_cloud(bursting={...})`: another cloud, with these sections of the configuration. Start it, and end it."""
    return lambda **settings: DashboardCloud(tmp_path_factory.mktemp("cloud"), programs, **settings)


@pytest.fixture(scope="session")
def cloud(new_cloud: NewCloud) -> Iterator[DashboardCloud]:
    """This session's cloud, as `tests/e2e/cloud.py` says."""
    with new_cloud() as made:
        yield made.start()


@pytest.fixture
def watched(browser: Browser, cloud: DashboardCloud) -> Iterator[Callable[..., Watched]]:
    """Opens further pages, each in a profile of its own; options as of playwright's `new_context`."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(watched_page(browser, cloud.url, **options))


@pytest.fixture
def open_as(watched: Callable[..., Watched]) -> OpenPage:
    """`open_as("shop-admin", "/ui")`: a page after the sign-in with a sample token."""

    def open_signed_in(token: str, path: str = "/ui", **options: object) -> Page:
        return watched(**options).sign_in(token, path)

    return open_signed_in
