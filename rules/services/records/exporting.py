"""Write a site's published rules into a folder for others to run: stylesheets, or the bundle."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
from django.core.exceptions import ValidationError

from clustering.services.pages.stored_trees import read_snapshot
from rules.bundle.bundle import REQUIREMENT, Bundle, Fixture, fixture_lines, write_bundle
from rules.bundle.scrapy_export import project_files
from rules.models import GoldenRecord
from rules.services.records.published_rules import PublishedRules, published_rules
from vertex.core.models import Site, User
from vertex.core.services.people import audit

FORMATS: Final = ("xslt", "json", "scrapy")
N_FIXTURES = 3  # pages of each cluster


def export_rules(
    *, site: Site, folder: Path, form: str = "xslt", actor: User | None = None
) -> list[Path]:
    """Write a site's published rules into a folder, and return the files.

    The folder appears or changes only when all is written; what else it holds stays. Raises
    ValidationError where there is nothing to export, or the folder's name is a file's.
    """
    if form not in FORMATS:
        raise ValidationError(f"{form!r} is no format of rules; there are: {', '.join(FORMATS)}")
    if folder.exists() and not folder.is_dir():
        raise ValidationError(f"{folder} is a file; name a folder")
    published = published_rules(site)
    if not published.rule_by_cluster:
        raise ValidationError(
            f"{site.name} has no published rule to export; learn and publish one first"
        )
    learnt = {name: rule.definition for name, rule in published.rule_by_cluster.items()}
    bundle = Bundle(site.name, site.root_url, published.rules, learnt, site.country)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name[:100]}."
    ) as new_name:
        new_folder = Path(new_name)
        write_bundle(new_folder, bundle, list(fixtures_of(published)))
        if form == "scrapy":
            texts = project_files(site.name, site.root_url, REQUIREMENT)
            for name, text in texts.items():
                (new_folder / name).write_text(text, encoding="utf-8")
        if form == "json":
            _write_definitions(new_folder, learnt)
        files = _move_into(new_folder, folder)
    audit.record(
        actor=actor, action="rules.exported", subject=site.name, site=site, detail={"format": form}
    )
    return files


def fixtures_of(published: PublishedRules) -> Iterator[Fixture]:
    """Yield some pages of each rule as when it was published, with what the rules find there."""
    for rule in published.rule_by_cluster.values():
        golden_records = GoldenRecord.objects.filter(rule=rule).select_related("snapshot__page")
        for golden in golden_records.order_by("pk")[:N_FIXTURES]:
            stored_page = read_snapshot(golden.snapshot)
            if stored_page is not None:
                page = replace(stored_page, url=golden.snapshot.page.given_url)
                yield Fixture(page, fixture_lines(page, published.rules))


def _write_definitions(folder: Path, learnt: dict[str, object]) -> None:
    for name, definition in learnt.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(definition, option=orjson.OPT_INDENT_2))


def _move_into(new_folder: Path, folder: Path) -> list[Path]:
    """Move files into a folder, each in one step; fixtures of an earlier export are replaced."""
    folder.mkdir(exist_ok=True)
    shutil.rmtree(folder / "fixtures", ignore_errors=True)
    files = []
    for path in sorted(new_folder.rglob("*")):
        target = folder / path.relative_to(new_folder)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            path.replace(target)
            files.append(target)
    return files
