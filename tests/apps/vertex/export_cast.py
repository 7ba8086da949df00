"""A site with a history of every kind, its export, and what has to be the same elsewhere."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from django.apps import apps
from django.utils import timezone

from annotation.models import Annotation, Attribute, Comment, Effort, SecondAnnotation
from annotation.services.samples.sampling import draw_samples, samples_request
from annotation.services.verticals.policies import change_policy
from clustering.dom.addresses import url_hash
from clustering.models import (
    Asset,
    Cluster,
    ClusterAnswer,
    ClusterChange,
    Clustering,
    ClusterLayout,
    Link,
    Page,
    PageMembership,
    SearchClick,
    Snapshot,
    SnapshotAssets,
)
from clustering.services.clusters.cluster_changes import move_to_new_cluster, rename_cluster
from clustering.services.clusters.cluster_reviews import store_review
from clustering.services.pages.importing import import_pages, import_request
from clustering.services.sites import site_export
from monitoring.models import ChainStep, ErrorPage, KeptList, Schedule, SiteThresholds
from rules.models import BorrowedRule, Rule, Webhook
from rules.services.review.reviewing import propose_rule
from tests.apps.monitoring import monitored_shop
from tests.apps.rules.shop_cast import extract, products_of
from vertex import site_import
from vertex.core.models import Job, Membership, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store

# Of this installation, not of the site.
OWN = {
    "core.site": ("name",),
    "monitoring.schedule": ("is_active", "next_at"),
    "monitoring.keptlist": ("is_active", "next_at"),
    "rules.record": ("change_number",),
}


def shop_with_history(folder: Path) -> Site:
    """Return a shop with clusters, annotations, rules, records and checks that people changed."""
    ada = User.objects.create_user(
        "ada", first_name="Ada", last_name="Byron", password="secret word"
    )
    site = monitored_shop.shop()
    extract(site)
    dearer = monitored_shop.archive(folder / "dearer", site, monitored_shop.dearer)
    run_job(create_here(import_request(site=site, source=Path(dearer))).pk, import_pages)
    extract(site)
    monitored_shop.check(
        site, monitored_shop.archive(folder / "new", site, monitored_shop.redesigned)
    )
    run_job(create_here(samples_request(site=site)).pk, draw_samples)
    _change_clusters(site, ada)
    _annotate_again(site, ada)
    rule = Rule.objects.get(cluster__site=site)
    draft = Rule.objects.create(
        cluster=rule.cluster,
        version=rule.version + 1,
        vertical=rule.vertical,
        schema=rule.schema,
        definition=rule.definition,
        stylesheet=rule.stylesheet,
        made_by=ada,
    )
    propose_rule(rule=draft, actor=ada)
    change_policy(site=site, publishing="second", second_share=50, actor=ada)
    Schedule.objects.create(site=site, next_at=timezone.now(), made_by=ada)
    Webhook.objects.create(site=site, url="https://hook.example/", secret="hidden", made_by=ada)
    Membership.objects.create(user=ada, site=site, role="editor")
    _add_the_rest(site, ada)
    Site.objects.filter(pk=site.pk).update(created_by=ada, title="A shop")
    return site


def _change_clusters(site: Site, actor: User) -> None:
    products = products_of(site)
    members = PageMembership.objects.of_cluster(products).order_by("page")
    shown = list(members.values_list("page", flat=True))[:3]
    store_review(
        cluster=products,
        verdict="mixed",
        pages=shown,
        strangers=shown[:1],
        comment="",
        actor=actor,
    )
    rename_cluster(cluster=products, title="Ropes", actor=actor)
    other = Cluster.objects.present().filter(site=site).exclude(pk=products.pk).first()
    assert other is not None
    moved = PageMembership.objects.of_cluster(other).values_list("page", flat=True)[:2]
    move_to_new_cluster(site=site, pages=list(moved), title="Moved", actor=actor)


def _annotate_again(site: Site, author: User) -> None:
    """Let there be a second revision, a comment, a second annotation and what it cost."""
    first = Annotation.objects.filter(page__site=site, kind="value").earliest("pk")
    Annotation.objects.filter(pk=first.pk).update(superseded_at=timezone.now())
    Annotation.objects.create(
        page=first.page,
        snapshot=first.snapshot,
        attribute=first.attribute,
        xpath=first.xpath,
        text=first.text,
        author=author,
        revision=2,
    )
    of_page = {"page": first.page, "attribute": first.attribute}
    Comment.objects.create(
        **of_page, snapshot=first.snapshot, text="Is it this one?", author=author
    )
    SecondAnnotation.objects.create(
        **of_page, snapshot=first.snapshot, marks=[{"xpath": first.xpath}], author=author
    )
    Effort.objects.create(**of_page, site=site, person=author, seconds=3.5)
    # It was in the vertical when somebody annotated it.
    Attribute.objects.create(
        vertical=first.attribute.vertical,  # type: ignore[union-attr]  # a value has one
        name="colour",
        position=9,
        dropped_at=timezone.now(),
    )


def _add_the_rest(site: Site, actor: User) -> None:
    """Add a row of each further kind, as services of theirs write them."""
    rule = Rule.objects.get(cluster__site=site, state="published")
    snapshot = Snapshot.objects.filter(page__site=site).earliest("pk")
    now = timezone.now()
    address = {"url": f"{site.root_url}a.css", "url_hash": url_hash(f"{site.root_url}a.css")}
    sheet = page_store().put(b"p { color: red }")
    asset = Asset.objects.create(site=site, **address, kind="sheet", body=sheet, fetched_at=now)
    SnapshotAssets.objects.create(snapshot=snapshot, assets=[asset.pk], fetched_at=now)
    Link.objects.create(page=snapshot.page, position=1, xpath="/html/body/a", **address)
    SearchClick.objects.create(site=site, query="ropes", clicks=3, **address)
    answer = ClusterAnswer.objects.create(
        site=site,
        doubt="d1",
        left=[snapshot.page.url],
        right=[],
        n_left=1,
        n_right=0,
        is_same=True,
        algorithm="auto",
        probability=0.5,
        was_joined=False,
        given_by=actor,
    )
    clustering = Clustering.objects.current().get(site=site)
    Clustering.objects.filter(pk=clustering.pk).update(
        answers=[answer.pk], map=[[snapshot.page_id, 0.25, 0.5]]
    )
    ClusterLayout.objects.create(
        clustering=clustering, cluster=rule.cluster, name="l", example=snapshot.page
    )
    ClusterChange.objects.create(
        site=site,
        kind="split",
        cluster=rule.cluster,
        detail={
            "parts": {str(rule.cluster_id): [snapshot.page_id]},
            "groups": {"": rule.cluster_id},
            "model": {},
        },
        undone_at=now,
    )
    other = Cluster.objects.filter(site=site).exclude(pk=rule.cluster_id).earliest("pk")
    BorrowedRule.objects.update_or_create(
        cluster=other, defaults={"rule": rule, "decided_for": "x"}
    )
    SiteThresholds.objects.create(site=site, quorum=0.75, changed_by=actor)
    KeptList.objects.create(
        site=site,
        name="New",
        addresses=f"{site.root_url}new",
        n_addresses=1,
        next_at=now,
        made_by=actor,
    )
    ErrorPage.objects.create(site=site, kind="soft_404", source="asked", words=[1], digest="d")
    ChainStep.objects.create(site=site, step="extract", started_for=now, changed_by=actor)


def exported(site: Site, folder: Path) -> Path:
    """Export a site and return the file."""
    job = create_here(site_export.export_request(site=site))
    done = run_job(job.pk, partial(site_export.export_site, place=folder))
    assert done.state == Job.State.DONE, done.error
    return folder / str((done.result or {})["file"])


def rows_of(file: Path, label: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        return [orjson.loads(line) for line in archive.read(f"rows/{label}.jsonl").splitlines()]


def history(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all rows that an import carries over, with ids replaced by places in their table."""
    labels = ("core.site", *site_export.NAMED, *site_import.CARRIED)
    rows = {label: rows_of(file, label) for label in labels}
    place_by_number: dict[str, dict[int, int]] = defaultdict(dict)
    for label in labels:
        numbers = sorted(row["id"] for row in rows[label])
        place_by_number[label] = {number: place for place, number in enumerate(numbers)}
    return {
        label: [_placed(label, row, place_by_number) for row in rows[label]] for label in labels
    }


def _placed(label: str, row: dict[str, Any], places: dict[str, dict[int, int]]) -> dict[str, Any]:
    own = dict.fromkeys(OWN.get(label, ()))
    if label == "core.user":
        return {**row, "id": places[label][row["id"]]}
    placed = site_import._renumber(apps.get_model(label), row, lambda to, old: places[to].get(old))
    return {**placed, **own, "id": places[label][row["id"]]}


def bodies(file: Path) -> set[str]:
    with zipfile.ZipFile(file) as archive:
        return {name for name in archive.namelist() if name.startswith(("pages/", "assets/"))}


def n_pages(site: Site) -> int:
    return Page.objects.filter(site=site).count()
