"""Draw where a rule finds each attribute: a part of one of its samples, with the value lit.

A browser draws them where there is one; else they are outlines. They are drawn by a job, once a
version, for the version that serves a cluster and for its newest one.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from clustering.dom.frame.outlines import LIT, draw_place
from clustering.dom.page import PageTooLarge
from clustering.fetching.browser.chromium import BrowserMissing
from clustering.fetching.browser.picturing import (
    CROP_HEIGHT,
    CROP_SCALE,
    CROP_WIDTH,
    Camera,
    Crop,
    PicturedNode,
    open_camera,
)
from clustering.fetching.refusals import FetchRefused
from clustering.models import Snapshot
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.looks.thumbnails import numbered_still
from rules.algorithms.running.pictured_nodes import find_pictured_nodes
from rules.algorithms.running.record_lines import lines_of_extracted
from rules.models import PlacePicture, Rule, RuleSample
from rules.services.learning.held_out import stylesheet_hash
from rules.services.learning.sample_pages import RuleStopped, extract_snapshot
from rules.services.learning.schemas import runnable
from vertex.core.models import Job, User
from vertex.core.services.jobs.jobs import JobExists, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.storage import BodyDamaged, BodyMissing

WAIT_FOR_LOOKS: Final = timedelta(seconds=30)
MAX_PAGES: Final = 5  # that are looked at for all attributes of a rule
WIDTH, HEIGHT = int(CROP_WIDTH * CROP_SCALE), int(CROP_HEIGHT * CROP_SCALE)


def start_drawing_places(*, rule: Rule, actor: User | None = None) -> None:
    """Create the job that draws the places of a cluster's rule, unless one is to do so already.

    It begins a while later: the files that the samples are drawn with are often being
    fetched just now.
    """
    request = JobRequest(
        kind=DRAW_PLACES,
        title=f"Draw where the rule of {rule.cluster.title} looks"[:200],
        site=rule.cluster.site,
        params={"cluster": rule.cluster_id},
        key=f"draw_places:{rule.cluster_id}",
        is_audited=False,
    )
    with suppress(JobExists):
        enqueue(request, actor=actor, due_at=timezone.now() + WAIT_FOR_LOOKS)


def draw_places(run: JobRun) -> dict[str, Any]:
    """Do the work of a job that draws the places of a cluster's rules.

    A version that is made or learnt again while it draws is drawn, too: no other job is
    asked for meanwhile.
    """
    cluster = run.job.params["cluster"]
    n_drawn = 0
    looked_at: set[tuple[int, str]] = set()  # some have no place that can be drawn
    while rule := _next_to_draw(cluster, looked_at):
        looked_at.add((rule.pk, stylesheet_hash(rule)))
        run.renew(n_done=n_drawn, message=str(rule))
        with run.kept_alive():
            n_drawn += _draw(rule)
    shown = [rule.pk for rule in _shown_versions(cluster)]
    PlacePicture.objects.filter(rule__cluster=cluster).exclude(rule__in=shown).delete()
    return {"pictures": n_drawn}


def _next_to_draw(cluster: int, looked_at: Collection[tuple[int, str]]) -> Rule | None:
    """Return a version of a cluster's rule that has no pictures as it is now; None if all have."""
    for rule in _shown_versions(cluster):
        if (rule.pk, stylesheet_hash(rule)) not in looked_at and not pictured_attributes(rule):
            return rule
    return None


def _shown_versions(cluster: int) -> list[Rule]:
    """Return the newest version of a cluster's rule, and the one that serves."""
    versions = Rule.objects.filter(cluster=cluster).order_by("-version")
    newest, serving = versions.first(), versions.published().first()
    return list(dict.fromkeys(rule for rule in (newest, serving) if rule is not None))


DRAW_PLACES = JobKind("rules.draw_places", Job.Queue.KEEP, draw_places)


def pictured_attributes(rule: Rule | None) -> frozenset[str]:
    """Return the attributes whose place is drawn for a rule as it is now."""
    if rule is None:
        return frozenset()
    drawn = PlacePicture.objects.filter(rule=rule, stylesheet_hash=stylesheet_hash(rule))
    return frozenset(drawn.values_list("attribute", flat=True))


def _draw(rule: Rule) -> int:
    """Draw the places of a rule, each on the first sample that shows it, and return how many."""
    svg_by_attribute: dict[str, str] = {}
    with suppress(BrowserMissing), open_camera() as camera:
        svg_by_attribute = _svg_by_attribute(rule, camera)
    if not svg_by_attribute:
        svg_by_attribute = _svg_by_attribute(rule, None)
    with transaction.atomic():
        PlacePicture.objects.filter(rule=rule).delete()
        PlacePicture.objects.bulk_create(
            PlacePicture(rule=rule, attribute=name, stylesheet_hash=stylesheet_hash(rule), svg=svg)
            for name, svg in svg_by_attribute.items()
        )
    return len(svg_by_attribute)


def _svg_by_attribute(rule: Rule, camera: Camera | None) -> dict[str, str]:
    """Return the pictures of a rule's places, by a browser or as outlines."""
    svg_by_attribute: dict[str, str] = {}
    samples = RuleSample.objects.filter(rule=rule).exclude(use=RuleSample.Use.HELD_OUT)
    for sample in samples.select_related("snapshot__page").order_by("use", "pk")[:MAX_PAGES]:
        with suppress(
            FetchRefused, PageTooLarge, PageTooHeavy, BodyMissing, BodyDamaged, RuleStopped
        ):
            paths = _paths_on(rule, sample.snapshot)
            missing = {name: path for name, path in paths.items() if name not in svg_by_attribute}
            svg_by_attribute |= _draw_on(sample.snapshot, missing, camera)
    return svg_by_attribute


def _paths_on(rule: Rule, snapshot: Snapshot) -> dict[str, str]:
    """Return the XPath of the first value of each attribute that a rule finds on a page."""
    extracted = extract_snapshot(snapshot, runnable(rule), nodes=True)
    if extracted is None:
        return {}
    paths: dict[str, str] = {}
    for line in lines_of_extracted(snapshot.page.url, runnable(rule), extracted):
        for name, selected in line.nodes.items():
            first = selected if isinstance(selected, str) else next(iter(selected), "")
            if first:
                paths.setdefault(name, first)
    return paths


def _draw_on(snapshot: Snapshot, paths: Mapping[str, str], camera: Camera | None) -> dict[str, str]:
    """Return the pictures of places on one page; those that cannot be seen have none.

    Raises a FetchRefused, PageTooLarge, PageTooHeavy, BodyMissing, BodyDamaged.
    """
    if not paths:
        return {}
    answers = call_on_page(snapshot, find_pictured_nodes, paths=list(paths.values()))
    nodes = {
        name: PicturedNode(*node)
        for name, node in zip(paths, answers, strict=True)
        if node is not None
    }
    if camera is None:
        drawings = [call_on_page(snapshot, draw_place, node.number) for node in nodes.values()]
    else:
        crops = camera.crops(numbered_still(snapshot), list(nodes.values()))
        drawings = ["" if crop is None else _svg_of(crop) for crop in crops]
    return {name: svg for name, svg in zip(nodes, drawings, strict=True) if svg}


def _svg_of(crop: Crop) -> str:
    """Return a crop as a drawing with its boxes lit."""
    lit: Sequence[str] = [
        f'<rect x="{box.x - 2:.1f}" y="{box.y - 2:.1f}" width="{box.width + 4:.1f}" '
        f'height="{box.height + 4:.1f}" rx="3" fill="{LIT}" fill-opacity=".14" '
        f'stroke="{LIT}" stroke-width="2"/>'
        for box in crop.boxes
    ]
    png = b64encode(crop.png).decode()
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {size}>'
        f'<image {size} href="data:image/png;base64,{png}"/>{"".join(lit)}</svg>'
    )
