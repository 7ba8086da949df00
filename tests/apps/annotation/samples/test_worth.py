"""Which clusters are asked for: details, what people want, and what they have begun."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.samples.queue import queue_of
from annotation.services.samples.worth import reasons_to_leave_out
from annotation.services.verticals.verticals import assign_vertical
from clustering.models import Cluster, ClusterFigures, Page
from clustering.services.clusters.kinds import set_annotating, set_kind
from rules.models import Rule
from tests.apps.annotation.cast import cluster_of, product_page, shop
from vertex.core.models import Membership, Role, Site, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def products(site: Site) -> Cluster:
    return of_kind(site, "products", "detail")


@pytest.fixture
def unruled(site: Site) -> Cluster:
    return of_kind(site, "found", "search")


@pytest.fixture
def ada() -> User:
    user: User = User.objects.create_user("ada")
    Membership.objects.create(user=user, role=Role.EDITOR)
    return user


def of_kind(site: Site, name: str, kind: str) -> Cluster:
    cluster = cluster_of(site, name, [product_page(site, f"{name}/{n}") for n in range(2)])
    ClusterFigures.objects.filter(cluster=cluster).update(kind=kind, certainty=0.9)
    return cluster


def left_out(*clusters: Cluster) -> dict[str, str]:
    present = list(Cluster.objects.filter(pk__in=[cluster.pk for cluster in clusters]))
    reasons = reasons_to_leave_out(present)
    return {cluster.name: reasons[cluster.pk] for cluster in present if cluster.pk in reasons}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("list", "List"), ("error", "Error"), ("login", "Log-in"), ("navigation", "Navigation")],
)
def test_what_is_no_detail_is_left_out(site: Site, kind: str, reason: str) -> None:
    assert left_out(of_kind(site, "some", kind)) == {"some": reason}


@pytest.mark.parametrize("kind", ["detail", ""])
def test_details_and_unknown_kinds_are_kept(site: Site, kind: str) -> None:
    assert left_out(of_kind(site, "some", kind)) == {}


def test_annotations_keep_a_cluster(unruled: Cluster, ada: User) -> None:
    page = Page.objects.filter(memberships__cluster=unruled).first()
    assert page is not None
    assert left_out(unruled) == {"found": "Search"}
    assert page.latest_snapshot is not None
    annotate(
        snapshot=page.latest_snapshot,
        attribute=Attribute.objects.get(name="name"),
        marks=[AnnotatedValue(Anchor("/html/body/h1", "Runner"))],
        actor=ada,
    )
    assert left_out(unruled) == {}


def test_a_rule_keeps_a_cluster(unruled: Cluster) -> None:
    Rule.objects.create(cluster=unruled, version=1, vertical=Vertical.objects.get(), stylesheet="x")
    assert left_out(unruled) == {}


def test_a_vertical_of_its_own_keeps_a_cluster(site: Site, unruled: Cluster) -> None:
    assign_vertical(site=site, cluster=unruled, vertical=Vertical.objects.get(), actor=None)
    assert left_out(unruled) == {}


def test_a_person_decides(products: Cluster, unruled: Cluster) -> None:
    set_annotating(cluster=products, annotating="dismissed", actor=None)
    set_annotating(cluster=unruled, annotating="wanted", actor=None)
    assert left_out(products, unruled) == {"products": "Dismissed"}

    set_annotating(cluster=products, annotating="", actor=None)
    set_kind(cluster=products, kind="list", actor=None)
    assert left_out(products, unruled) == {"products": "List"}


def test_the_queue_has_them_last_with_the_reason(
    products: Cluster, unruled: Cluster, ada: User
) -> None:
    assert [(row.cluster, row.left_out) for row in queue_of(ada)] == [
        (products, ""),
        (unruled, "Search"),
    ]


def test_the_page_dismisses_and_brings_back(
    client: Client, products: Cluster, unruled: Cluster, ada: User
) -> None:
    client.force_login(ada)
    here = reverse("annotate_site", args=["shop"])
    address = reverse("set_annotating", args=["shop", "products"])
    page = client.get(here).content.decode()
    assert f'id="queue-{products.pk}"' in page
    assert f'id="left-out-{unruled.pk}"' in page

    answer = client.post(address, {"annotating": "dismissed", "next": here}, follow=True)
    assert f'id="left-out-{products.pk}"' in answer.content.decode()
    assert "is not asked for any more" in answer.content.decode()

    answer = client.post(address, {"annotating": "", "next": here}, follow=True)
    assert f'id="queue-{products.pk}"' in answer.content.decode()


def test_the_page_filters_sorts_and_shows_pictures(
    client: Client, products: Cluster, unruled: Cluster, ada: User
) -> None:
    client.force_login(ada)
    site = products.site
    guides = cluster_of(site, "guides", [product_page(site, f"g/{n}") for n in range(9)])
    ClusterFigures.objects.filter(cluster=guides).update(
        kind="detail", examples=[site.pages.get(url__endswith="g/0").pk]
    )

    def shown(**query: str) -> list[Cluster]:
        rows = client.get(reverse("annotate_site", args=["shop"]), query).context["rows"]
        return [shown_row.row.cluster for shown_row in rows]

    assert [guides, products] == shown()
    assert [products, guides] == shown(sort="pages")
    assert [products, guides] == shown(sort="-title")
    assert [guides, products] == shown(sort="password")
    assert ([], [guides, products]) == (shown(show="done"), shown(show="all"))
    page = client.get(reverse("annotate_site", args=["shop"])).content.decode()
    assert "/thumbnails/" in page
    assert 'Annotated <span class="count">0</span>' in page


def test_samples_are_drawn_of_what_is_worth_it(products: Cluster, unruled: Cluster) -> None:
    assert drawn()[0] == {"products"}
    assert "found was left out (search); draw its samples with --cluster found" in drawn()[1]


def test_a_cluster_that_is_named_is_drawn_whatever_it_is(unruled: Cluster) -> None:
    names, notices = drawn("--cluster", "found")

    assert names == {"found"}
    assert "left out" not in notices


def drawn(*options: str) -> tuple[set[str], str]:
    """Return the clusters that got samples, and the notices."""
    output, notices = io.StringIO(), io.StringIO()
    call_command("draw_samples", "shop", *options, stdout=output, stderr=notices)
    lines = map(json.loads, output.getvalue().splitlines())
    return {line["cluster"] for line in lines}, notices.getvalue()
