"""Mails of each kind and language, an operator's templates, and what markup and line breaks in names become."""

from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from limes.notifications.mail.templates import KINDS, SHIPPED, MailContext, RenderError, Templates, page_of, sample
from limes.notifications.settings import NotificationKind

AROUND = MailContext("https://dashboard.example.com/", "https://limes.example.com/u?token=x")


class Reader(HTMLParser):
    """Collects tags, links and text, and holds that each tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str | None] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_there_is_a_sample_of_each_kind() -> None:
    assert set(KINDS) == set(get_args(NotificationKind))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_in_each_language(kind: str, language: str) -> None:
    assert (SHIPPED / language / f"{kind}.txt").exists()
    templates = Templates()
    one = templates.render(kind, language, [sample(kind)], AROUND, strict=True)
    several = templates.render(kind, language, [sample(kind)] * 3, AROUND, strict=True)
    assert "3" in several.subject
    assert one.subject in several.text
    for mail in (one, several):
        assert mail.subject
        assert len(mail.subject.splitlines()) == 1
        page, at = Reader(mail.html), "https://dashboard.example.com/"
        assert set(page.links) == {
            page_of(sample(kind), at),
            f"{at}notifications",
            "https://limes.example.com/u?token=x",
        }
        assert all(link in mail.text for link in page.links if link)
        assert "None" not in mail.subject + mail.text + mail.html
        assert page.tags <= {"html", "head", "meta", "title", "body", "h2", "p", "a"}


@pytest.mark.parametrize(("language", "of_domain"), [("en", "domain germany"), ("de", "der Domäne germany")])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("temporary_quota_")])
def test_temporary_quota_of_a_domain_itself(kind: str, language: str, of_domain: str) -> None:
    document = {name: value for name, value in sample(kind).items() if name not in {"project", "level"}}
    mail = Templates().render(kind, language, [document], AROUND, strict=True)
    assert mail.subject.startswith("germany: ")
    assert of_domain in mail.text


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("own_threshold", "domains/D/projects/P"),
        ("temporary_quota_ends", "domains/D/projects/P"),
        ("commitment_expires", "domains/D/projects/P/commitments?do=manage&id=12"),
        ("request_decided", "domains/D/projects/P/requests/12"),
        ("backend_unreachable", "alerts"),
    ],
)
def test_a_link_leads_to_what_the_mail_is_about(kind: str, path: str) -> None:
    document = sample(kind)
    for level, id_ in (("domain", "D"), ("project", "P")):
        if level in document:
            document[level] = {"id": id_}
    for dashboard in ("https://limes.example.com/ui", "https://limes.example.com/ui/"):
        assert page_of(document, dashboard) == f"https://limes.example.com/ui/{path}"
    document.pop("project", None)
    assert page_of(document, "/ui").startswith("/ui/domains/D" if "domain" in document else "/ui/alerts")


def test_without_links() -> None:
    mail = Templates().render("quota_used", "en", [sample("quota_used")], MailContext())
    assert Reader(mail.html).links == []
    assert "http" not in mail.text


def test_markup_and_line_breaks_are_harmless() -> None:
    document = sample("request_opened")
    nasty = "<script>alert(1)</script>\r\nBcc: all@example.com\r\n\r\n{{ 7 * 7 }}"
    document["project"] = {"id": "1", "name": nasty}
    document["request"]["reason"] = nasty
    document["request"]["requester"] = {"id": "2", "name": '"><img src=x onerror=1>'}
    mail = Templates().render("request_opened", "en", [document], AROUND, strict=True)
    assert len(mail.subject.splitlines()) == 1
    assert {"script", "img"} & Reader(mail.html).tags == set()
    assert "<script>" not in mail.html
    assert "&lt;script&gt;" in mail.html
    assert "{{ 7 * 7 }}" in mail.html
    assert "Bcc" not in [line.partition(":")[0] for line in mail.text.partition("Reason")[0].splitlines()]


def test_an_unknown_language_gets_the_default_one() -> None:
    documents = [sample("quota_used")]
    german = Templates(default_language="de").render("quota_used", "fr", documents, AROUND)
    assert "belegt" in german.subject
    assert "belegt" in Templates().render("quota_used", "de-AT", documents, AROUND).subject
    assert "used" in Templates().render("quota_used", "fr", documents, AROUND).subject


def test_an_operator_overrides_single_files(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en/quota_used.txt").write_text("Subject: Mind {{ n.resource }}\n\nHello <{{ n.project.name }}>")
    (tmp_path / "en/quota_used.html").write_text("<p><b>{{ n.project.name }}</b></p>")
    (tmp_path / "fr").mkdir()
    (tmp_path / "fr/quota_used.txt").write_text("Subject: Attention\nSeveral: {{ count }} fois\n\nBonjour")
    templates = Templates(tmp_path)
    document = {**sample("quota_used"), "project": {"id": "1", "name": "a<b"}}
    mail = templates.render("quota_used", "en", [document], AROUND, strict=True)
    assert mail.subject == "Mind ram"
    assert "Hello <a<b>" in mail.text
    assert "<p><b>a&lt;b</b></p>" in mail.html
    assert templates.render("quota_used", "fr", [document] * 2, AROUND).subject == "2 fois"
    assert "confirmed" in templates.render("commitment_confirmed", "fr", [sample("commitment_confirmed")], AROUND).text
    assert templates.languages() == ["de", "en", "fr"]


@pytest.mark.parametrize(
    "text",
    [
        "no subject",
        "Subject: {{ n.nothing.at_all }}\n\nx",
        "Subject: {% if %}\n\nx",
        "Subject: x\n\n{{ n.__class__.__mro__ }}",
        "Subject: x\n\n{{ ''.__class__.__base__.__subclasses__() }}",
        "Subject: {{ 1 // 0 }}\n\nx",
        "Subject: x\n\n{% for each in range(10000000) %}x{% endfor %}",
    ],
)
def test_a_broken_template_stops_no_mail(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en/quota_used.txt").write_text(text)
    templates = Templates(tmp_path)
    with pytest.raises(RenderError, match="template en/"):
        templates.render("quota_used", "en", [sample("quota_used")], AROUND, strict=True)
    mail = templates.render("quota_used", "en", [sample("quota_used")], AROUND)
    assert mail == Templates().render("quota_used", "en", [sample("quota_used")], AROUND)
    assert "a mail template cannot be used" in caplog.text


def test_a_mail_shows_only_so_many() -> None:
    mail = Templates().render("quota_used", "en", [sample("quota_used")] * 1000, AROUND)
    assert mail.subject == "1000 quotas are nearly used up"
    assert "And 950 more." in mail.text
    assert len(mail.html) < 50_000
