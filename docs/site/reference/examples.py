"""The files of `config/`, whole."""

from pathlib import Path

_CONFIG = Path(__file__).parents[3] / "config"
_HEAD = """# Example files

What stands in the folder `config` of the source.
"""
_FILES = {
    "limes.yaml": "yaml",
    "quickstart.yaml": "yaml",
    "sample-data.yaml": "yaml",
    "policy.yaml": "yaml",
    "placement-policy.yaml": "yaml",
    "gunicorn.conf.py": "python",
    "wsgi/uwsgi-placement.ini": "ini",
    "wsgi/apache-placement.conf": "apacheconf",
    "wsgi/limes-placement.wsgi": "python",
    "prometheus/scrape.yaml": "yaml",
    "prometheus/alerts.yaml": "yaml",
}


def render() -> str:
    """The whole page."""
    lines = [_HEAD]
    for name, language in _FILES.items():
        lines += [f"## {name}", "", f"```{language}", (_CONFIG / name).read_text(encoding="utf-8").rstrip(), "```", ""]
    return "\n".join(lines)
