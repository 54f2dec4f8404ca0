"""The page and its files: headers, caches, compression."""

import gzip
import json
from pathlib import Path

import falcon
import pytest

from limes.kernel.errors import StartupError
from limes.ui.pages import AssetEndpoint, PageEndpoint
from tests.support.frontend import STATIC

SCRIPT = next(name for name in json.loads((STATIC / "manifest.json").read_text())["built"] if name.endswith(".js"))


@pytest.mark.parametrize("path", ["/ui", "/ui/", "/ui/cloud", "/ui/domains/x/projects/y", "/ui/no/such/page"])
def test_each_address_is_the_page(dashboard: falcon.testing.TestClient, path: str) -> None:
    answer = dashboard.simulate_get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.text == (STATIC / "index.html").read_text()
    assert answer.headers["cache-control"] == "no-cache"
    assert dashboard.simulate_head(path).headers["etag"] == answer.headers["etag"]


def test_nothing_inline_and_nothing_from_elsewhere(dashboard: falcon.testing.TestClient) -> None:
    answer = dashboard.simulate_get("/ui")
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "<style" not in answer.text
    assert answer.text.count("<script") == answer.text.count('src="/ui/assets/') == 2


def test_files_are_kept_for_ever_and_sent_compressed(dashboard: falcon.testing.TestClient) -> None:
    plain = dashboard.simulate_get(f"/ui/{SCRIPT}")
    assert plain.content == (STATIC / SCRIPT).read_bytes()
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "content-encoding" not in plain.headers
    packed = dashboard.simulate_get(f"/ui/{SCRIPT}", headers={"Accept-Encoding": "br, gzip"})
    assert (packed.headers["content-encoding"], gzip.decompress(packed.content)) == ("gzip", plain.content)
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


def test_each_encoding_has_a_tag_of_its_own(dashboard: falcon.testing.TestClient) -> None:
    gzipped = {"Accept-Encoding": "gzip"}
    plain, packed = (dashboard.simulate_get("/ui", headers=headers) for headers in ({}, gzipped))
    assert plain.headers["etag"] != packed.headers["etag"]
    known = {"If-None-Match": packed.headers["etag"]}
    assert dashboard.simulate_get("/ui", headers={**known, **gzipped}).status_code == 304
    refused = dashboard.simulate_get("/ui", headers={**known, "Accept-Encoding": "gzip;q=0"})
    assert (refused.status_code, "content-encoding" in refused.headers) == (200, False)


def test_who_has_it_gets_no_second_copy(dashboard: falcon.testing.TestClient) -> None:
    etag = dashboard.simulate_get("/ui").headers["etag"]
    for given in (etag, f"W/{etag}", f'"other", {etag}'):
        answer = dashboard.simulate_get("/ui", headers={"If-None-Match": given})
        assert (answer.status_code, answer.content) == (304, b"")
    assert dashboard.simulate_get("/ui", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("path", ["/ui/assets/other.js", "/ui/assets/..%2Findex.html", "/ui/assets/a/b"])
def test_other_files_are_not_there(dashboard: falcon.testing.TestClient, path: str) -> None:
    assert dashboard.simulate_get(path).status_code == 404


def test_a_page_that_is_not_built_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="the dashboard is not built"):
        PageEndpoint(tmp_path)


def test_only_built_files_are_served(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "beside.js").touch()
    assets = AssetEndpoint(tmp_path)
    (tmp_path / "assets" / "later.js").touch()
    for name in ("later.js", "../beside.js", f"{tmp_path}/beside.js", ""):
        with pytest.raises(falcon.HTTPNotFound):
            assets.on_get(None, None, name)  # type: ignore[arg-type]  # neither is looked at
