"""What backends say of their errors, made comparable between projects."""

import re

PLACEHOLDER = "{project_id}"


def without_project(text: str, project_id: str) -> str:
    """The text with a placeholder instead of this project's id, so that the same error reads the same for all."""
    return re.sub(rf"(?<![0-9A-Za-z-]){re.escape(project_id)}(?![\w-])", PLACEHOLDER, text)
