"""The pictures of the documentation can be taken, and each shows something."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.docs.cloud import SampleCloud
from tests.docs.screenshots import FOLDER, MOST_BYTES, PICTURES, WIDTH, file_names, fill, take_all

pytestmark = [pytest.mark.site, pytest.mark.browser, pytest.mark.timeout(600)]

LOOK = """async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
    const [common, count] = [...counts].reduce((a, b) => (a[1] >= b[1] ? a : b));
    const [red, green, blue] = [common & 255, (common >> 8) & 255, (common >> 16) & 255];
    return {size: [image.width, image.height], colours: counts.size, background: count / pixels.length,
            brightness: (red + green + blue) / 3};
}"""
"""What a browser sees in a picture: its size, how many colours it has, and the share and brightness of the commonest."""


def look_at(browser: Browser, picture: Path) -> Any:
    page = browser.new_page()
    try:
        return page.evaluate(LOOK, f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}")
    finally:
        page.close()


def check(browser: Browser, picture: Path) -> None:
    seen = look_at(browser, picture)
    assert seen["size"] == [WIDTH, PICTURES[picture.stem.removesuffix("-dark")].height]
    assert seen["colours"] > 50, "it is blank"
    assert seen["background"] < 0.98, "it is all but blank"
    assert (seen["brightness"] < 100) == picture.stem.endswith("-dark")
    assert picture.stat().st_size < MOST_BYTES


@pytest.fixture(scope="module")
def taken(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all pictures, taken just now."""
    cloud, folder = SampleCloud(tmp_path_factory.mktemp("cloud")), tmp_path_factory.mktemp("pictures")
    try:
        cloud.start()
        url = cloud.with_real_ports("http://127.0.0.1:8080")
        fill(url)
        take_all(browser, url, folder)
        yield folder
    finally:
        cloud.stop()


@pytest.mark.long
@pytest.mark.parametrize("name", file_names())
def test_a_picture(name: str, taken: Path, browser: Browser) -> None:
    check(browser, taken / name)


@pytest.mark.parametrize("name", file_names())
def test_a_picture_that_is_kept(name: str, browser: Browser) -> None:
    check(browser, FOLDER / name)


def test_no_other_picture_is_kept() -> None:
    assert PICTURES
    assert sorted(path.name for path in FOLDER.glob("*.png")) == sorted(file_names())
