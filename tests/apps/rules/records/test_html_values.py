"""Values that join markup: annotated as one element, learnt, and the same from every engine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.dom.page import parse_page
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from rules.algorithms.running.run_rule import transform
from rules.bundle.parallel import extract_bundle
from rules.models import Record
from rules.services.learning.learning import learn_rule
from rules.services.learning.trial_runs import HandEdit, try_edit
from rules.services.records.exporting import export_rules
from rules.services.review.publishing import publish_rule
from tests.algorithms.rules.stylesheet.test_stylesheet import by_xsltproc, values_in
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import extract, products_of
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = pytest.mark.django_db

NUMBERS = range(1, 11)
WORDS = ["oak", "pine", "ash", "elm", "birch", "maple", "cedar", "willow", "hazel", "larch"]


def body(n: int) -> bytes:
    """Return a page whose text blocks are broken by tags, entities, comments and line breaks."""
    word = WORDS[n % 10]
    items = "".join(f"<li>{one}</li>" for one in WORDS[: n % 3 + 1])
    text = (
        f"<p>The <b>{word}</b>en <i>d<u>e</u>sk</i> no.&nbsp;{n}<!-- c -->,<br>made by hand "
        "&amp; kept.</p>"
    )
    last = f"<p>Care:<script>1</script> oil it {n} times.</p>" if n % 2 else ""
    return (
        f"<html><head><title>Desk {n}</title></head><body><h1>Desk {n}</h1><div "
        f"class='about'>{text}"
        f"\n <ul>{items}</ul>{last}</div><div class='foot'><p>All desks</p></div></body></html>"
    ).encode()


def about(n: int) -> str:
    """Return what a reader sees of the element that is the value."""
    items = " ".join(WORDS[: n % 3 + 1])
    last = f" Care: oil it {n} times." if n % 2 else ""
    return f"The {WORDS[n % 10]}en desk no. {n}, made by hand & kept. {items}{last}"


def tree_of(n: int) -> HtmlElement:
    tree = parse_page(body(n)).tree
    assert tree is not None
    return tree


def shop_of_desks() -> Site:
    site = site_of("shop")
    store(site, [(f"p/{n}", body(n), "text/html") for n in NUMBERS])
    plans = [
        AttributeType("name"),
        AttributeType("about", "html"),
        AttributeType("items", "html", is_multi=True),
    ]
    assign_vertical(
        site=site, vertical=save_vertical(name="desk", attributes=plans, actor=None), actor=None
    )
    run_job(create_here(clustering_request(site=site)).pk, cluster_site)
    return site


def annotate(site: Site, tmp_path: Path, *numbers: int) -> None:
    """Import what an editor would mark: the element that holds the text, and each item."""
    lines: list[dict[str, Any]] = []
    for n in numbers:
        url = f"{site.root_url}p/{n}"
        lines += [{"url": url, "attribute": "name", "xpath": "/html/body/h1"}]
        lines += [{"url": url, "attribute": "about", "xpath": "/html/body/div[1]"}]
        lines += [
            {"url": url, "attribute": "items", "xpath": f"/html/body/div[1]/ul/li[{item + 1}]"}
            for item in range(n % 3 + 1)
        ]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_annotations", site.name, str(tmp_path / "said.jsonl"))


@pytest.mark.skipif(shutil.which("xsltproc") is None, reason="needs xsltproc")
def test_all_engines_give_the_text_of_the_whole_element(tmp_path: Path) -> None:
    site = shop_of_desks()
    annotate(site, tmp_path, 1, 2)
    rule = learn_rule(cluster=products_of(site))
    publish_rule(rule=rule)
    extract(site)
    export_rules(site=site, folder=tmp_path / "bundle")
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for n in NUMBERS:
        (pages / f"{n:02}.html").write_bytes(body(n))
    lines = list(extract_bundle(tmp_path / "bundle", tmp_path / "pages"))

    for n, line in zip(NUMBERS, lines, strict=True):
        record = Record.objects.get(page__url__endswith=f"p/{n}")
        assert {
            "name": f"Desk {n}",
            "about": about(n),
            "items": WORDS[: n % 3 + 1],
        } == record.values
        assert (record.values, record.raw) == (line["record"], line["raw"])
        raw = {name: [text] if isinstance(text, str) else text for name, text in record.raw.items()}
        assert [raw] == values_in(transform(rule.stylesheet, tree_of(n)).getroot())
        assert [raw] == values_in(by_xsltproc(tmp_path, rule.stylesheet, tree_of(n)))
        assert "/html/body/div[1]" == record.nodes["about"]


def test_the_value_is_what_the_editor_was_shown_and_an_edit_counts_it_as_right(
    tmp_path: Path,
) -> None:
    site = shop_of_desks()
    annotate(site, tmp_path, 1, 2)
    annotation = Annotation.objects.get(attribute__name="about", page__url__endswith="p/1")
    rule = learn_rule(cluster=products_of(site))
    score = next(
        one for one in try_edit(rule.cluster, HandEdit(rule)).scores if one.name == "about"
    )

    assert about(1) == annotation.text
    assert (2, 0) == (score.n_right, score.n_bad)
