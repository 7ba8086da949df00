"""The demo from clusters to records: what was crawled is clustered, sampled, annotated, learnt and extracted.

In place of an editor, the truth that comes with each site says what stands where on a few pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.urls import reverse

from annotation.models import Annotation, Sample
from annotation.services.files.importing import import_annotations, import_request
from annotation.services.samples.sampling import draw_samples, samples_request
from clustering.models import Cluster, ClusterFigures, Clustering, PageMembership
from clustering.services.clusters.clusterings import cluster_site, clustering_request
from rules.models import Extraction, GoldenRecord, Record, Rule
from rules.services.learning.learning import learn_rules, learning_request
from rules.services.records.extracting import due_pages, extract_records, extraction_request
from rules.services.records.published_rules import published_rules
from vertex.core.models import Site
from vertex.demo import sites
from vertex.demo.sites import DemoPage
from vertex.demo.sites.site import annotation_lines
from vertex.demo.tour import Tour, TourStep, do_job, job_of, shortened

N_ANNOTATED = 3  # pages of each site
N_LARGEST = 3  # clusters that are told
FIRST_ERROR = 400  # status


class Thing(NamedTuple):
    """A page that describes one thing of its site's vertical, and what is true of it."""

    url: str
    truth: DemoPage


# Clusters


def cluster_sites(tour: Tour) -> str:
    """Cluster the sites that have no clusters yet, or pages that came in this tour."""

    def row(site: Site) -> list[str]:
        how = _cluster(site, tour)
        clustering = _current(site)
        if clustering is None:
            return ["", "", "", how]
        extents = ClusterFigures.objects.filter(
            clustering=clustering, n_pages__gt=0
        ).select_related("cluster")
        largest = [f"{one.cluster.title} {one.n_pages}" for one in extents[:N_LARGEST]]
        return [f"{len(extents):,}", f"{clustering.n_unassigned:,}", ", ".join(largest), how]

    tour.show_sites("n clusters", "n in none", "the largest", "how", row=row)
    return f"{Cluster.objects.present().filter(site__name__in=sites.NAMES).count():,} clusters"


def _cluster(site: Site, tour: Tour) -> str:
    if _current(site) is not None and site.name not in tour.crawled_on:
        return "clustered before"
    job = job_of(partial(clustering_request, site=site))
    with tour.progress(job.title, site.n_pages) as advance:
        told = do_job(job, cluster_site, advance)
    made = _current(site)
    return told or (f"{made.algorithm}, {made.seconds:.1f} s" if made else "")


def _current(site: Site) -> Clustering | None:
    return Clustering.objects.current().without_model().filter(site=site).first()


# Samples


def sample_clusters(tour: Tour) -> str:
    """Draw the samples of clusters that have none since they were made."""

    def row(site: Site) -> list[str]:
        how = _sample(site, tour)
        drawn = Sample.objects.filter(cluster__site=site).order_by("-gain").select_related("page")
        best = shortened(urlsplit(drawn[0].page.url).path) if drawn else ""
        return [f"{len(drawn):,}", best, how]

    tour.show_sites("n samples", "the first to look at", "how", row=row)
    return f"{Sample.objects.filter(cluster__site__name__in=sites.NAMES).count():,} pages worth annotating"


def _sample(site: Site, tour: Tour) -> str:
    clustering = _current(site)
    if clustering is None:
        return "no clusters yet"
    if Sample.objects.filter(cluster__site=site, drawn_at__gte=clustering.made_at).exists():
        return "drawn before"
    job = job_of(partial(samples_request, site=site))
    with tour.progress(job.title, Cluster.objects.present().filter(site=site).count()) as advance:
        return do_job(job, draw_samples, advance) or "drawn"


# Annotations


def annotate_samples(tour: Tour) -> str:
    """Say what stands where on the first samples of the cluster that holds most of a site's things."""

    def row(site: Site) -> list[str]:
        cluster = main_cluster(site)
        if cluster is None:
            return ["", "", "", "no page of a thing yet"]
        how = _annotate(site, cluster)
        said = Annotation.objects.live().of_cluster(cluster)
        return [
            cluster.title,
            f"{said.values('page').distinct().count()}",
            f"{said.count():,}",
            how,
        ]

    tour.show_sites("cluster", "n pages", "n annotations", "how", row=row)
    live = Annotation.objects.live().filter(page__site__name__in=sites.NAMES)
    return f"{live.count():,} annotations in force"


def main_cluster(site: Site) -> Cluster | None:
    """Return the cluster with most of the pages that describe a thing; None where there is none."""
    things = _things_by_cluster(site)
    sizes = Counter({cluster: len(pages) for cluster, pages in things.items()})
    return Cluster.objects.get(pk=sizes.most_common(1)[0][0]) if sizes else None


def _things_by_cluster(site: Site) -> dict[int, dict[int, Thing]]:
    """Return the things of each cluster, by page."""
    rows = (
        PageMembership.objects.current()
        .filter(page__site=site, cluster__isnull=False)
        .order_by("page")
    )
    things: defaultdict[int, dict[int, Thing]] = defaultdict(dict)
    for cluster, page, url in rows.values_list("cluster", "page", "page__url"):
        parts = urlsplit(url)
        truth = sites.load(site.name).page_at(
            parts.path + (f"?{parts.query}" if parts.query else "")
        )
        if truth is not None and truth.values and truth.status < FIRST_ERROR:
            things[cluster][page] = Thing(url, truth)
    return dict(things)


def _annotate(site: Site, cluster: Cluster) -> str:
    if Annotation.objects.of_cluster(cluster).exists():
        return "annotated before"
    path = _write_annotations(site, cluster)
    job = job_of(partial(import_request, site=site, source=path))
    told = do_job(job, import_annotations)
    n_refused = (job.result or {}).get("refused", 0)
    return told or (f"{n_refused} refused" if n_refused else "annotated")


def _write_annotations(site: Site, cluster: Cluster) -> Path:
    """Write what is true of the first samples; the file stays, so that a cut off run can be done again."""
    things = _things_by_cluster(site)[cluster.pk]
    drawn = Sample.objects.filter(cluster=cluster).order_by("rank").values_list("page", flat=True)
    chosen = [things[page] for page in dict.fromkeys([*drawn, *things]) if page in things][
        :N_ANNOTATED
    ]
    lines = [
        {"url": thing.url} | line for thing in chosen for line in annotation_lines(thing.truth)
    ]
    path: Path = settings.VAR_DIR / "demo" / f"{site.name}-annotations.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


# Rules


def learn_site_rules(tour: Tour) -> str:
    """Learn and publish the rule of each annotated cluster that has none in use."""

    def row(site: Site) -> list[str]:
        cluster = main_cluster(site)
        if cluster is None or not Annotation.objects.live().of_cluster(cluster).exists():
            return ["", "", "", "", "nothing annotated yet"]
        how = _learn(site, cluster)
        rule = Rule.objects.published().filter(cluster=cluster).first()
        if rule is None:
            return ["", "", "", "", how]
        unfound = [line["attribute"] for line in rule.figures if line["kind"] == "none"]
        return [
            str(rule),
            f"{len(rule.figures) - len(unfound)} of {len(rule.figures)}",
            ", ".join(unfound),
            f"{GoldenRecord.objects.filter(rule=rule).count()}",
            how,
        ]

    tour.show_sites("rule", "n attributes", "not learnt", "n golden records", "how", row=row)
    published = Rule.objects.published().filter(cluster__site__name__in=sites.NAMES)
    return f"{published.count()} rules published"


def _learn(site: Site, cluster: Cluster) -> str:
    if Rule.objects.published().filter(cluster=cluster).exists():
        return "published before"
    request = partial(learning_request, site=site, cluster=cluster.name, is_draft=False)
    return do_job(job_of(request), learn_rules) or "learnt and published"


# Records


def extract_site_records(tour: Tour) -> str:
    """Run the published rules on all pages that they have not seen as they are now."""

    def row(site: Site) -> list[str]:
        how = _extract(site, tour)
        records = Record.objects.there().filter(site=site)
        without = Extraction.objects.filter(site=site, n_records=0)
        first = records.order_by("pk").first()
        return [f"{records.count():,}", f"{without.count():,}", _told(first) if first else "", how]

    tour.show_sites("n records", "n pages without", "one of them", "how", row=row)
    return f"{Record.objects.there().filter(site__name__in=sites.NAMES).count():,} records"


def _extract(site: Site, tour: Tour) -> str:
    published = published_rules(site)
    if not published.rule_by_cluster:
        return "no rule yet"
    due = due_pages(site, published.ruleset_version)
    if not due:
        return "extracted before"
    job = job_of(partial(extraction_request, site=site))
    with tour.progress(job.title, len(due)) as advance:
        return do_job(job, extract_records, advance) or "extracted"


def _told(record: Record) -> str:
    """Return the first two values of a record."""
    texts = [
        value if isinstance(value, str) else ", ".join(value) for value in record.values.values()
    ]
    return shortened("; ".join(texts[:2]))


def to_open(name: str) -> list[tuple[str, str]]:
    """Return where to see what came of a site, as far as it came."""
    site = Site.objects.filter(name=name).first()
    if site is None:
        return []
    addresses = [(reverse("clusters", args=[name]), "its clusters")]
    cluster = main_cluster(site)
    if cluster is not None:
        addresses.append(
            (reverse("cluster", args=[name, cluster.name]), "the one that holds its things")
        )
        if Rule.objects.filter(cluster=cluster).exists():
            addresses.append(
                (
                    reverse("rule", args=[name, cluster.name]),
                    "what was learnt for it, and from what",
                )
            )
    addresses.append((reverse("records", args=[name]), "its records"))
    record = Record.objects.there().filter(site=site).order_by("pk").first()
    if record is not None:
        addresses.append(
            (reverse("record", args=[name, record.pk]), "one of them, and where it stands")
        )
    return addresses


STEPS = [
    TourStep("Clusters: pages that one template makes", cluster_sites),
    TourStep("Samples: the pages worth an editor's time", sample_clusters),
    TourStep("Annotations: what stands where on three of them", annotate_samples),
    TourStep("Rules: learnt from the annotations, published", learn_site_rules),
    TourStep("Records: what the rules find on all pages", extract_site_records),
]
