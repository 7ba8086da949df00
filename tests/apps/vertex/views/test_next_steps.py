"""What is to be done next at a site: the most urgent thing first, for each role what it may do."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Vertical
from clustering.models import (
    Annotating,
    Cluster,
    ClusterFigures,
    Clustering,
    Page,
    PageMembership,
    Snapshot,
)
from monitoring.models import Proposal, SiteChange
from monitoring.services.repair.accepting import ACCEPT_PROPOSAL
from rules.models import Record, Review, Rule
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.monitoring.watched_sites import changed, checked, watched
from tests.apps.rules.record_cast import record_of
from vertex.core.models import Membership, Role, Site, User
from vertex.core.services.jobs.jobs import cancel_job
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.views.next_steps import NextStep, facts_of, next_step

pytestmark = pytest.mark.django_db


def person(role: Role, site: Site | None = None) -> User:
    user: User = User.objects.create_user(f"{role}-{site or 'everywhere'}")
    Membership.objects.create(user=user, role=role, site=site)
    return user


@pytest.fixture
def operator() -> User:
    return person(Role.OPERATOR)


def step(site: Site, user: User) -> NextStep:
    return next_step(facts_of([site], user)[site.pk])


def with_pages(site: Site) -> Site:
    site.n_pages, site.last_snapshot_at = 40, timezone.now()
    site.save()
    return site


def clustered(site: Site, *, n_unassigned: int = 0, kind: str = "detail") -> Cluster:
    """Give a site a cluster of 40 pages."""
    with_pages(site)
    clustering = Clustering.objects.create(
        site=site, is_current=True, algorithm="auto", n_pages=40, n_unassigned=n_unassigned
    )
    cluster, _ = Cluster.objects.get_or_create(
        site=site, name="products", defaults={"title": "Products"}
    )
    ClusterFigures.objects.create(clustering=clustering, cluster=cluster, n_pages=40, kind=kind)
    return cluster


def in_use(name: str = "shop") -> Site:
    """Return a site that is watched, with a record by its published rule."""
    site = watched(name)
    clustered(site)
    rule = Rule.objects.get(cluster__site=site)
    record_of(rule, page_of(site, "p/1", b"<h1>Rope</h1>"))
    return site


def test_the_way_from_an_empty_site_to_its_first_rule(operator: User) -> None:
    site = site_of("shop")
    assert "Crawl the site" == step(site, operator).word
    site.n_pages = 1  # found by a crawl that could not fetch it
    assert ("Crawl the site", True) == (
        step(site, operator).word,
        "None of its pages is stored yet" in step(site, operator).text,
    )
    with_pages(site)
    assert "Cluster the pages" == step(site, operator).word
    cluster = clustered(site)
    described = step(site, operator)
    assert ("Annotate", True) == (described.word, "what the pages describe" in described.text)
    vertical = Vertical.objects.create(name="product")
    Assignment.objects.create(site=site, vertical=vertical)
    assert "Mark on a page or two" in step(site, operator).text
    rule = Rule.objects.create(cluster=cluster, version=1, vertical=vertical, stylesheet="")
    assert "Propose the rule" == step(site, operator).word
    Rule.objects.filter(pk=rule.pk).update(state="proposed")
    Review.objects.create(rule=rule, stylesheet_hash="x")
    assert "Review the rule" == step(site, operator).word
    Review.objects.update(outcome="published")
    Rule.objects.filter(pk=rule.pk).update(state="published")
    assert "Extract records" == step(site, operator).word


def test_an_open_change_comes_before_all_else_and_its_repair_is_offered(operator: User) -> None:
    site = in_use()
    changed(site)
    change = SiteChange.objects.get()
    next_step = step(site, operator)
    assert ("Look at the change", "bad") == (next_step.word, next_step.tone)
    assert reverse("site_change", args=[site.name, change.pk]) == next_step.href
    Proposal.objects.create(site=site, name="products", decision="proposed", field_test=False)
    assert "Annotate the new pages" == step(site, operator).word
    Proposal.objects.create(
        site=site, name="products", decision="proposed", from_cluster=change.cluster
    )
    assert "Decide the repair" == step(site, operator).word
    job = enqueue(JobRequest(kind=ACCEPT_PROPOSAL, title="accept", key="repair", site=site))
    assert ("", "busy") == (step(site, operator).word, step(site, operator).tone)
    cancel_job(job=job, actor=operator)
    assert "Decide the repair" == step(site, operator).word


def test_a_repair_and_stale_records_that_a_change_leaves_behind_are_named(operator: User) -> None:
    site = in_use()
    Proposal.objects.create(site=site, name="one", decision="proposed", field_test=False)
    assert "Decide the repair" != step(site, operator).word
    proposal = Proposal.objects.create(site=site, name="products", decision="proposed")
    waiting = step(site, operator)
    assert f"{reverse('site_monitoring', args=[site.name])}#repairs" == waiting.href
    proposal.delete()
    Record.objects.update(stale_since=timezone.now())
    waiting = step(site, operator)
    assert waiting.text.startswith("1 record is from before a redesign. The stream fetches")
    assert reverse("site_stream", args=[site.name]) == waiting.href
    newer = Snapshot.objects.get(pk=Record.objects.get().snapshot_id)
    newer.pk = None
    newer.save()
    Page.objects.filter(pk=newer.page_id).update(latest_snapshot=newer)
    assert "Extract again" == step(site, operator).word


def test_pages_in_no_cluster_and_clusters_without_a_rule_come_last(operator: User) -> None:
    site = in_use()
    checked(site)
    assert ("", "good") == (step(site, operator).word, step(site, operator).tone)
    other = Cluster.objects.create(site=site, name="guide", title="Guide")
    current = Clustering.objects.get()
    ClusterFigures.objects.create(clustering=current, cluster=other, n_pages=9, kind="detail")
    assert "1 cluster of details has no rule; annotate or dismiss." == step(site, operator).text
    Cluster.objects.filter(pk=other.pk).update(annotating=Annotating.DISMISSED)
    assert "" == step(site, operator).word
    Clustering.objects.update(n_unassigned=13)
    assert "Cluster again" == step(site, operator).word


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_nobody_is_led_to_what_is_refused(role: Role) -> None:
    site = site_of("shop")
    user = person(role, site)
    client = Client()
    client.force_login(user)
    for prepare in (lambda: None, lambda: with_pages(site), lambda: clustered(site)):
        prepare()
        next_step = step(site, user)
        assert next_step.text
        assert not next_step.href or 200 == client.get(next_step.href).status_code


def test_the_list_of_sites_and_the_page_of_a_site_show_it(operator: User) -> None:
    site = in_use()
    changed(site)
    client = Client()
    client.force_login(operator)
    href = reverse("site_change", args=[site.name, SiteChange.objects.get().pk])
    for address in (reverse("sites"), reverse("site", args=[site.name])):
        page = client.get(address).content.decode()
        assert href in page
        assert "Failing: changed" in page
        assert "Crawl again" not in page
    assert [site.name] == [
        row.site.name for row in client.get(reverse("sites"), {"show": "alert"}).context["rows"]
    ]


def test_a_cluster_from_before_a_redesign_is_not_asked_for(operator: User) -> None:
    site = in_use()
    left = Cluster.objects.create(site=site, name="left", title="Left")
    current = Clustering.objects.get()
    ClusterFigures.objects.create(clustering=current, cluster=left, n_pages=1, kind="detail")
    page = Record.objects.get().page
    PageMembership.objects.create(clustering=current, page=page, cluster=left)
    assert 1 == facts_of([site], operator)[site.pk].n_asked_for

    Record.objects.update(stale_since=timezone.now())
    assert 0 == facts_of([site], operator)[site.pk].n_asked_for
    Cluster.objects.filter(pk=left.pk).update(annotating=Annotating.WANTED)
    assert 1 == facts_of([site], operator)[site.pk].n_asked_for
