"""A site with a published rule, written by hand, and records of it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from annotation.models import Attribute, Vertical
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from rules.models import ChangeCounter, Record, Rule, RuleSample
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.models import Site

STYLESHEET = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by hand. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:template match="/">
    <record>
      <xsl:for-each select="//h1/text()"><value name="name"><xsl:value-of select="."/></value></xsl:for-each>
      <xsl:for-each select="//b[@class='price']/text()"><value name="price"><xsl:value-of select="."/></value></xsl:for-each>
    </record>
  </xsl:template>
</xsl:stylesheet>
"""
PRECISE: dict[str, Any] = {
    "kind": "xpath",
    "target": "text()",
    "features": [{"kind": "tag", "level": 1, "values": ["h1"]}],
    "xpath": "//h1/text()",
    "numbers": {
        "precision": 1.0,
        "distance": 1,
        "support": 0.95,
        "unique": 1.0,
        "price": 1.5,
        "rank": 0.5,
    },
}
LOSER = PRECISE | {
    "xpath": "//div[2]/h1/text()",
    "numbers": PRECISE["numbers"] | {"support": 0.4, "distance": 3, "price": 4.0},
}
DEFINITION: dict[str, Any] = {
    "attributes": [
        {"attribute": "name", "alternatives": [PRECISE], "losers": [LOSER], "failures": []},
        {
            "attribute": "price",
            "alternatives": [],
            "losers": [],
            "failures": [
                {
                    "attribute": "price",
                    "step": "conjunction",
                    "page": "https://shop.example/p1",
                    "reason": "no conjunction of features tells the price from the old price",
                }
            ],
        },
    ],
    "learner": "default",
    "learnt_from": ["https://shop.example/p1"],
    "n_unannotated": 3,
    "failures": [],
}
FIGURES = [
    {
        "attribute": "name",
        "kind": "xpath",
        "xpath": "//h1/text()",
        "precision": 1.0,
        "distance": 1,
        "support": 0.95,
        "n_annotated": 1,
        "missing_on": [],
    },
    {
        "attribute": "price",
        "kind": "none",
        "xpath": "",
        "precision": 0.0,
        "distance": 0,
        "support": 0.0,
        "n_annotated": 1,
        "missing_on": ["https://shop.example/p1"],
        "reason": "conjunction: no conjunction of features tells the price from the old price",
    },
]


def body_of(number: int) -> bytes:
    shown = f"<h1>Shoe {number}</h1><b class='price'>${number}.00</b>"
    return f"<html><body>{shown}</body></html>".encode()


def vertical_of(name: str = "product") -> Vertical:
    vertical, is_new = Vertical.objects.get_or_create(name=name)
    if is_new:
        Attribute.objects.create(vertical=vertical, name="name", position=0, is_constant=True)
        Attribute.objects.create(vertical=vertical, name="price", type="price", position=1)
        Attribute.objects.create(vertical=vertical, name="sizes", position=2, is_multi=True)
    return vertical


def rule_of(site: Site, *, cluster: str = "products", **fields: Any) -> Rule:
    """Return a rule of a cluster, which is made where it is not there yet."""
    of_cluster, is_new = Cluster.objects.get_or_create(
        site=site, name=cluster, defaults={"title": "Product pages"}
    )
    if is_new:
        clustering, _ = Clustering.objects.get_or_create(
            site=site, is_current=True, algorithm="auto"
        )
        ClusterFigures.objects.create(
            clustering=clustering, cluster=of_cluster, group="g", n_pages=1
        )
    vertical = vertical_of()
    last = Rule.objects.filter(cluster=of_cluster).order_by("-version").first()
    fields = {
        "state": Rule.State.PUBLISHED,
        "stylesheet": STYLESHEET,
        "definition": DEFINITION,
    } | fields
    if fields["state"] == Rule.State.PUBLISHED:
        fields = {"published_at": timezone.now()} | fields
    return Rule.objects.create(
        cluster=of_cluster,
        version=last.version + 1 if last else 1,
        vertical=vertical,
        schema=[attribute.as_json() for attribute in vertical.attribute_types()],
        **(
            {"figures": FIGURES, "validation": {"pages": 20, "found": {"name": 20, "price": 0}}}
            | fields
        ),
    )


def sampled(rule: Rule, *numbers: int) -> None:
    """Let pages of the site be the samples of a rule."""
    for number in numbers:
        page = page_of(rule.cluster.site, f"p{number}", body_of(number))
        assert page.latest_snapshot is not None
        RuleSample.objects.create(rule=rule, snapshot=page.latest_snapshot, use="annotated")
        clustering = Clustering.objects.current().get(site=rule.cluster.site)
        PageMembership.objects.create(clustering=clustering, page=page, cluster=rule.cluster)


def record_of(rule: Rule, page: Page, **fields: Any) -> Record:
    """Return a record that was extracted just now, with the next change number."""
    return Record.objects.create(
        **(
            {
                "site": rule.cluster.site,
                "page": page,
                "cluster": rule.cluster,
                "rule": rule,
                "snapshot": page.latest_snapshot,
                "values": {"name": "Trail Runner", "price": "$89.00", "sizes": ["41", "42"]},
                "raw": {"name": " Trail Runner ", "price": "$89.00", "sizes": ["41", "42"]},
                "normalized": {"price": {"amount": "89.00", "currency": "USD"}},
                "confidence": {"name": 1.0, "price": 0.9, "sizes": 1.0},
                "nodes": {"name": "/html/body/h1/text()", "price": "/html/body/b/text()"},
                "record_confidence": 0.9,
                "change_number": next_number(),
            }
            | fields
        )
    )


def next_number() -> int:
    counter, _ = ChangeCounter.objects.get_or_create(name="records")
    counter.value += 1
    counter.save()
    return counter.value


def touched(record: Record, **values: Any) -> None:
    """Change a record as an extraction does: with a new change number."""
    record.values = record.values | values
    record.change_number = next_number()
    record.save()


def shop_with_records(n: int, *, name: str = "shop") -> tuple[Rule, list[Record]]:
    """Return a shop's rule with so many records, each of its own page."""
    rule = rule_of(site_of(name))
    pages = [page_of(rule.cluster.site, f"r{number}", body_of(number)) for number in range(n)]
    return rule, [record_of(rule, page) for page in pages]
