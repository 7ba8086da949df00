"""A small shop that is clustered, annotated and ready to be learnt from."""

from __future__ import annotations

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster, Page
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from rules.models import Rule
from rules.services.learning.learning import learn_rule
from rules.services.records.extracting import extract_records, extraction_request
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, store
from tests.apps.kept_rows import bring_back
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

PRODUCT = (
    "<html><head><title>{name}</title></head><body><h1 class='name'>{name}</h1>"
    "<dl class='facts'><dt>Our price</dt><dd class='price'>{price} EUR</dd>{more}</dl>"
    "<p class='text'>{name} is good</p></body></html>"
)
N = 12  # products of the shop that is built once for all tests
WEIGHT = "<dt>Weight</dt><dd class='weight'>{n} g</dd>"


def product(n: int, *, price: str = "", name: str = "") -> tuple[str, bytes, str]:
    """Return a page; every third one has no weight."""
    more = WEIGHT.format(n=n * 10 + 5) if n % 3 else ""
    body = PRODUCT.format(name=name or f"Rope {n}", price=price or f"{n}.50", more=more)
    return f"p/{n}", body.encode(), "text/html"


def shop(n: int = N) -> Site:
    """Return a clustered site of `n` products and half as many articles that describes products."""
    if n == N and bring_back("shop"):
        return Site.objects.get(name="shop")
    return build_shop(n)


def build_shop(n: int = N) -> Site:
    site = site_of("shop")
    store(site, [*(product(number) for number in range(1, n + 1)), *articles(range(n // 2))])
    vertical = save_vertical(
        name="product",
        attributes=[
            AttributeType("name", is_constant=True, is_mandatory=True),
            AttributeType("price", "price", is_mandatory=True),
            AttributeType("weight"),
        ],
        actor=None,
    )
    assign_vertical(site=site, vertical=vertical, actor=None)
    run_job(create_here(clustering_request(site=site)).pk, cluster_site)
    return site


def products_of(site: Site) -> Cluster:
    """Return the cluster of the products."""
    return Cluster.objects.present().get(site=site, figures__url_pattern__contains="/p/")


def annotate_product(site: Site, n: int) -> None:
    """Say what the product of this number shows."""
    page = Page.objects.select_related("latest_snapshot").get(
        site=site, url=f"{site.root_url}p/{n}"
    )
    assert page.latest_snapshot is not None
    marks = {
        "name": ("/html/body/h1", f"Rope {n}"),
        "price": ("/html/body/dl/dd[1]", f"{n}.50 EUR"),
        "weight": ("/html/body/dl/dd[2]", f"{n * 10 + 5} g") if n % 3 else None,
    }
    for name, mark in marks.items():
        kind = Annotation.Kind.VALUE if mark else Annotation.Kind.ABSENT
        xpath, text = mark or ("", "")
        Annotation.objects.create(
            page=page,
            snapshot=page.latest_snapshot,
            attribute=Attribute.objects.get(name=name),
            kind=kind,
            xpath=xpath,
            text=text,
        )


def listing(n: int = 8, *, site: Site | None = None) -> Site:
    """Return a site of list pages; the first two are annotated.

    Every second item has no price.
    """
    site = site or site_of("shop")
    store(
        site, [(f"list/{page}", list_page(page).encode(), "text/html") for page in range(1, n + 1)]
    )
    vertical = save_vertical(
        name="item",
        attributes=[AttributeType("name", is_constant=True), AttributeType("price", "price")],
        actor=None,
    )
    assign_vertical(site=site, vertical=vertical, actor=None)
    run_job(create_here(clustering_request(site=site)).pk, cluster_site)
    for page in (1, 2):
        annotate_list(site, page)
    return site


def list_page(page: int) -> str:
    items = "".join(
        f"<li class='item'><b class='name'>Item {page}{n}</b>"
        + (f"<i class='price'>{page}{n} EUR</i>" if n % 2 else "")
        + "</li>"
        for n in (1, 2, 3)
    )
    return (
        f"<html><body><h1>All items</h1><ul><li class='ad'><b>Ad</b></li>{items}</ul></body></html>"
    )


def annotate_list(site: Site, number: int) -> None:
    page = Page.objects.select_related("latest_snapshot").get(
        site=site, url=f"{site.root_url}list/{number}"
    )
    name, price = (Attribute.objects.get(name=name) for name in ("name", "price"))
    where = {"page": page, "snapshot": page.latest_snapshot}
    for n in (1, 2, 3):
        record = f"/html/body/ul/li[{n + 1}]"
        Annotation.objects.create(**where, kind=Annotation.Kind.RECORD, record=[record], position=n)
        value = {"record": [record], "position": n}
        Annotation.objects.create(
            **where, **value, attribute=name, xpath=f"{record}/b", text=f"Item {number}{n}"
        )
        if n % 2:
            Annotation.objects.create(
                **where, **value, attribute=price, xpath=f"{record}/i", text=f"{number}{n} EUR"
            )


def learnt_shop(n: int = N) -> tuple[Site, Rule]:
    """Return a shop with a published rule for its products."""
    if n == N and bring_back("learnt shop"):
        return Site.objects.get(name="shop"), Rule.objects.get()
    return build_learnt_shop(n)


def build_learnt_shop(n: int = N) -> tuple[Site, Rule]:
    site = build_shop(n)
    for number in (1, 3):
        annotate_product(site, number)
    rule = learn_rule(cluster=products_of(site))
    publish_rule(rule=rule)
    return site, rule


def extract(site: Site) -> dict[str, int]:
    """Extract what is due and return what it came to."""
    job = run_job(create_here(extraction_request(site=site)).pk, extract_records)
    assert job.state == "done", job.error
    return job.result or {}
