"""Settings, commands, glossary nouns and links are documented; documents name what exists."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
OUR_APPS = {"vertex", "clustering", "annotation", "rules", "monitoring"}
SOURCES = [path for app in OUR_APPS for path in (ROOT / app).rglob("*.py")]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
NOUNS = [
    "site",
    "page",
    "snapshot",
    "cluster",
    "sample",
    "vertical",
    "attribute",
    "annotation",
    "rule",
    "record",
    "golden record",
    "bellwether",
    "check",
    "site change",
    "alert",
    "notice",
    "job",
    "refusal",
    "role",
]


def settings_read() -> set[str]:
    reads = re.compile(r'environment\.\w+\(\s*"([A-Z_]+)"')
    return {name for path in SOURCES for name in reads.findall(path.read_text())}


def test_settings_are_found_in_the_source() -> None:
    assert {
        "DATABASE_URL",
        "BROKER_URL",
        "VERTEX_VAR",
        "VERTEX_ALLOWED_NETWORKS",
    } <= settings_read()


@pytest.mark.parametrize("name", sorted(settings_read()))
def test_every_setting_is_documented(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "settings.md").read_text()


def test_every_documented_setting_is_read() -> None:
    documented = set(
        re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    )

    assert documented - settings_read() == set()


@pytest.mark.parametrize(
    "command",
    sorted(name for name, app in get_commands().items() if app in {*OUR_APPS, "vertex.core"}),
)
def test_every_command_is_documented(command: str) -> None:
    assert f"`{command}" in (ROOT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("noun", NOUNS)
def test_every_noun_is_in_the_glossary(noun: str) -> None:
    assert f"**{noun}**" in (ROOT / "docs" / "glossary.md").read_text()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())

    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_no_path_of_a_machine(document: Path) -> None:
    assert re.findall(r"/(?:home|root|work)/\w+", document.read_text()) == []


def test_the_recipes_name_what_stands_in_the_files_that_they_name() -> None:
    recipes = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    named = re.findall(r"`([a-z_.]+)` (?:in|of) `([\w/]+\.py)`", recipes, re.IGNORECASE)
    in_the_tree = [(name, ROOT / path) for name, path in named if (ROOT / path).exists()]

    assert len(in_the_tree) > 15
    assert [
        name
        for name, path in in_the_tree
        if name != "NAME_test" and name.rpartition(".")[2] not in path.read_text()
    ] == []
