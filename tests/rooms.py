"""The rooms of the product in docs/ARCHITECTURE.md: `python -m tests.rooms` writes their tables."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parent.parent
APPS = ("vertex", "clustering", "annotation", "rules", "monitoring")
WITHOUT_ROOMS = {"migrations", "management", "commands", "templatetags", "static", "__pycache__"}
DEMO_SITES = ROOT / "vertex" / "demo" / "sites"  # pages with their words, a folder a site
DOCUMENT = ROOT / "docs" / "ARCHITECTURE.md"
BEGIN = "<!-- The tables are written by: python -m tests.rooms -->\n"
END = "<!-- The end of the rooms. -->\n"


def rooms() -> dict[str, str]:
    """Return the folders of modules with the first sentence of their docstring, app by app."""
    return {
        str(init.parent.relative_to(ROOT)): first_sentence(init.read_text())
        for app in APPS
        for init in sorted((ROOT / app).rglob("__init__.py"))
        if not WITHOUT_ROOMS & set(init.relative_to(ROOT).parts) and DEMO_SITES not in init.parents
    }


def first_sentence(source: str) -> str:
    """Return the first sentence of a module's docstring.

    >>> first_sentence("'Find lists. Start at `finding`.'")
    'Find lists.'
    """
    text = " ".join((ast.get_docstring(parse_source(source)) or "").partition("\n\n")[0].split())
    sentence = re.match(r".*?[.!?](?= [A-Z`]|$)", text)
    return sentence[0] if sentence else text


def tables() -> str:
    """Return a table for each app, its folders in order."""
    parts = []
    for app in APPS:
        rows = [
            f"| `{folder}` | {sentence} |"
            for folder, sentence in rooms().items()
            if folder == app or folder.startswith(f"{app}/")
        ]
        parts.append(
            "\n".join([f"### {app}", "", "| folder | what lives there |", "|---|---|", *rows])
        )
    return "\n" + "\n\n".join(parts) + "\n\n"


def main() -> int:
    """Write the tables between their two marks."""
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(before + BEGIN + tables() + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
