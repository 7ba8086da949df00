"""What comes first in the queue: pages that no rule reads yet; last, those of other things."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Annotation, Attribute, Vertical
from annotation.services.samples.queue import QueueRow, queue_of
from clustering.models import Cluster, ClusterFigures, Clustering, Page, Snapshot
from clustering.services.clusters.kinds import set_annotating
from rules.models import BorrowedRule, Rule
from rules.services.records.borrowing import refuse_borrowed_rule
from tests.apps.annotation.cast import cluster_of, product_page, shop
from vertex.core.models import Membership, Role, Site, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def ada() -> User:
    user: User = User.objects.create_user("ada")
    Membership.objects.create(user=user, role=Role.EDITOR)
    return user


@pytest.fixture
def lender(site: Site) -> Rule:
    """Return the published rule of a cluster of two pages."""
    return Rule.objects.create(
        cluster=details(site, "products", 2),
        version=1,
        vertical=Vertical.objects.get(),
        stylesheet="x",
        state=Rule.State.PUBLISHED,
    )


def details(site: Site, name: str, n: int) -> Cluster:
    cluster = cluster_of(
        site, name, [product_page(site, f"{name}/{number}") for number in range(n)]
    )
    ClusterFigures.objects.filter(cluster=cluster).update(kind="detail", certainty=0.9)
    return cluster


def borrow(cluster: Cluster, rule: Rule | None, share: float) -> BorrowedRule:
    return BorrowedRule.objects.create(
        cluster=cluster, rule=rule, share_read=share, n_pages_read=4, decided_for="these"
    )


def rows_of(user: User, *clusters: Cluster) -> list[QueueRow]:
    return [row for row in queue_of(user) if row.cluster in clusters]


def test_only_what_another_rule_does_not_read_counts(site: Site, lender: Rule, ada: User) -> None:
    half_read, unread = details(site, "half", 5), details(site, "unread", 3)
    assert [half_read, unread] == [row.cluster for row in rows_of(ada, half_read, unread)]
    borrowed = borrow(half_read, lender, 0.75)

    first, second = rows_of(ada, half_read, unread)
    assert [(unread, 12), (half_read, 5)] == [
        (first.cluster, first.worth),
        (second.cluster, second.worth),
    ]
    refuse_borrowed_rule(borrowed=borrowed, is_refused=True, actor=None)
    assert [half_read, unread] == [row.cluster for row in rows_of(ada, half_read, unread)]


def test_what_another_rule_reads_is_not_asked_for_unless_wanted(
    site: Site, lender: Rule, ada: User
) -> None:
    cluster = details(site, "read", 5)
    borrow(cluster, lender, 0.97)
    (row,) = rows_of(ada, cluster)
    assert f"Read by {lender.cluster.title}" == row.left_out

    set_annotating(cluster=cluster, annotating="wanted", actor=None)
    (row,) = rows_of(ada, cluster)
    assert "" == row.left_out


def test_what_no_rule_reads_at_all_comes_last(site: Site, lender: Rule, ada: User) -> None:
    strange, small = details(site, "strange", 9), details(site, "small", 1)
    borrow(strange, None, 0.0)
    assert [small, strange] == [row.cluster for row in rows_of(ada, strange, small)]

    set_annotating(cluster=strange, annotating="wanted", actor=None)
    assert [strange, small] == [row.cluster for row in rows_of(ada, strange, small)]


def test_the_page_says_what_is_read(client: Client, site: Site, lender: Rule, ada: User) -> None:
    borrow(details(site, "half", 5), lender, 0.75)
    borrow(details(site, "strange", 3), None, 0.0)
    client.force_login(ada)

    page = client.get(reverse("annotate")).content.decode()
    assert f"75.0 % is read by the rule of {lender.cluster.title}" in page
    assert "perhaps these describe something else" in page


def test_the_page_reads_no_model_of_a_clustering(client: Client, site: Site, ada: User) -> None:
    details(site, "products", 2)
    client.force_login(ada)
    with CaptureQueriesContext(connection) as of_page:
        client.get(reverse("annotate"))
    with CaptureQueriesContext(connection) as of_control:
        Clustering.objects.get()

    assert n_with_models(of_control) == 1
    assert n_with_models(of_page) == 0


def n_with_models(queries: CaptureQueriesContext) -> int:
    return sum('"clustering_clustering"."model"' in query["sql"] for query in queries)


def test_what_was_annotated_beside_the_samples_is_done(site: Site, ada: User) -> None:
    cluster = details(site, "products", 2)
    assert ["draw"] == [row.step for row in rows_of(ada, cluster)]
    page = Page.objects.get(site=site, url__endswith="products/1")
    snapshot = Snapshot.objects.get(page=page)
    for attribute in Attribute.objects.live():
        Annotation.objects.create(
            page=page,
            snapshot=snapshot,
            attribute=attribute,
            kind=Annotation.Kind.ABSENT,
        )
    [row] = rows_of(ada, cluster)
    assert (0, [], "done") == (row.n_samples, row.missing, row.step)
