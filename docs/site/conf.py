"""The documentation site: `make docs` builds it from the Markdown files of `docs/`."""

import re
from pathlib import Path

from pygments.lexer import inherit
from pygments.lexers.shell import BashLexer, BashSessionLexer
from pygments.token import Name
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from limes import __version__

project = "Limes"
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["site"]
myst_heading_anchors = 4
"""Headings down to this level can be linked to, as `page.md#heading`; a link that leads nowhere is an error."""
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = f"Limes {__version__}"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))  # or else it is looked for in the current folder
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


class Shell(BashLexer):
    """Bash, with programs and options in colour."""

    _words = r"if|then|else|elif|fi|for|in|do|done|while|until|case|esac|cd|echo|exit|export|printf|read|set|source|\."
    tokens = {
        "basic": [
            (rf"(?:^|(?<=\| )|(?<=&& ))(?!(?:{_words})(?:\s|$))[\w.~/-]+(?=\s|$)", Name.Function),
            (r"(?<=[\s\[])--?[a-zA-Z][\w-]*", Name.Attribute),
            inherit,
        ]
    }


class Console(BashSessionLexer):
    """Commands after `$ `, their further lines after `> `, and output."""

    _innerLexerCls = Shell
    _bare_continuation = True


class Search(SearchEnglish):
    """Finds statuses of HTTP, too: Sphinx leaves all numbers out, so they are indexed and asked for as `http423`."""

    js_splitter_code = r"""
    var splitQuery = (query) => query.split(/[^\p{L}\p{N}_]+/gu).filter(Boolean)
      .map((word) => /^[1-5]\d\d$/.test(word) ? `http${word}` : word);
    """

    def split(self, input: str) -> list[str]:
        """The words of a text."""
        return [f"http{word}" if re.fullmatch(r"[1-5]\d\d", word) else word for word in super().split(input)]


def setup(app: Sphinx) -> None:
    """What the options above cannot say."""
    app.add_search_language(Search)
    app.add_lexer("console", Console)
    app.add_lexer("sh", Shell)
