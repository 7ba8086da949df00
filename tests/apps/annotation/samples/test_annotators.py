"""A cluster can be somebody's: who may say so, what others see of it, where their queue has it."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.services.samples.queue import queue_of
from clustering.models import Cluster
from clustering.services.clusters.kinds import set_annotator
from tests.apps.annotation.cast import cluster_of, product_page, shop
from tests.apps.clustering.api_cast import caller
from vertex.core.models import AuditEntry, Membership, Role, Site, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def products(site: Site) -> Cluster:
    """Return the cluster that is worth most."""
    cluster_of(site, "guides", [product_page(site, "guide")])
    return cluster_of(site, "products", [product_page(site, f"p{n}") for n in range(3)])


def person(name: str, role: Role) -> User:
    user: User = User.objects.create_user(name)
    Membership.objects.create(user=user, role=role)
    return user


@pytest.fixture
def ada() -> User:
    return person("ada", Role.EDITOR)


@pytest.fixture
def bob() -> User:
    return person("bob", Role.EDITOR)


def names(user: User) -> list[str]:
    return [row.cluster.name for row in queue_of(user)]


def test_what_somebody_took_stands_behind_what_is_free_for_others(
    products: Cluster, ada: User, bob: User
) -> None:
    assert ["products", "guides"] == names(bob)
    set_annotator(cluster=products, annotator=ada, actor=ada)

    assert (["products", "guides"], ["guides", "products"]) == (names(ada), names(bob))


def test_an_editor_says_so_of_what_is_free_or_the_own_only(
    products: Cluster, ada: User, bob: User
) -> None:
    with pytest.raises(ValidationError, match="ask an operator"):
        set_annotator(cluster=products, annotator=bob, actor=ada)
    set_annotator(cluster=products, annotator=ada, actor=ada)
    for annotator in (bob, None):
        with pytest.raises(ValidationError, match="is annotated by ada; ask an operator"):
            set_annotator(cluster=products, annotator=annotator, actor=bob)

    assert ada == set_annotator(cluster=products, annotator=None, actor=ada)
    details = AuditEntry.objects.filter(action="cluster.annotator_set").order_by("pk")
    assert [{"was": "", "now": "ada"}, {"was": "ada", "now": ""}] == [
        entry.detail for entry in details
    ]


def test_an_operator_gives_it_to_whoever_may_annotate(products: Cluster, ada: User) -> None:
    olga, vera = person("olga", Role.OPERATOR), person("vera", Role.VIEWER)
    set_annotator(cluster=products, annotator=ada, actor=olga)

    with pytest.raises(
        ValidationError, match="Nobody who may annotate at shop has the user name vera"
    ):
        set_annotator(cluster=products, annotator=vera, actor=olga)
    products.refresh_from_db()
    assert ada == products.annotator


def test_the_browser_takes_it_shows_whose_it_is_and_gives_it_back(
    products: Cluster, ada: User, bob: User
) -> None:
    mine, others = Client(), Client()
    mine.force_login(ada)
    others.force_login(bob)
    address, queue = reverse("set_annotator", args=["shop", "products"]), reverse("annotate")
    assert "Take products" in others.get(queue).text

    taken = mine.post(address, {"annotator": "ada", "next": queue}, follow=True)
    assert "products is annotated by ada now." in taken.text
    assert "Give products back" in taken.text
    assert "ada annotates it" in others.get(queue).text
    assert "Take products" not in others.get(queue).text
    assert "No cluster is yours" in others.get(f"{queue}?show=mine").text
    refused = others.post(address, {"annotator": "bob", "next": queue}, follow=True)
    assert "ask an operator" in refused.text
    person("vera", Role.VIEWER)
    for name in ("vera", "x"):  # who may not, and a name that nobody has
        told = mine.post(address, {"annotator": f"{name}\0"}, follow=True).text
        assert f"obody who may annotate at shop has the user name {name}" in told

    mine.post(address, {"annotator": "", "next": queue})
    assert "Take products" in others.get(queue).text


def test_an_operator_chooses_among_those_who_may(products: Cluster, ada: User) -> None:
    operator, editor = Client(), Client()
    operator.force_login(person("olga", Role.OPERATOR))
    editor.force_login(ada)
    person("vera", Role.VIEWER)
    page = reverse("cluster", args=["shop", "products"])

    chosen_from = operator.get(page).text
    assert '<option value="ada">' in chosen_from
    assert '<option value="vera">' not in chosen_from
    assert "Annotated by" not in editor.get(page).text


def test_programs_say_so_too(products: Cluster, ada: User) -> None:
    otto = caller("otto", Role.OPERATOR)
    address = "sites/shop/clusters/products/"

    assert otto.get(address).json()["annotator"] is None
    assert "ada" == otto.patch(address, {"annotator": "ada"}).json()["annotator"]
    person("vera", Role.VIEWER)
    for name in ("vera", "x"):  # who may not, and a name that nobody has
        refused = otto.patch(address, {"annotator": name})
        told = f"Nobody who may annotate at shop has the user name {name}."
        assert (400, {"annotator": [told]}) == (
            refused.status_code,
            refused.json()["error"]["fields"],
        )
    assert otto.patch(address, {"annotator": None}).json()["annotator"] is None


def test_where_one_part_of_a_change_is_refused_nothing_is_changed(
    products: Cluster, ada: User
) -> None:
    bob = caller("bob", Role.EDITOR)
    changes = {"title": "Ropes", "annotator": ada.username}

    answer = bob.patch(f"sites/{products.site.name}/clusters/{products.name}/", changes)

    assert 400 == answer.status_code
    assert products.title == Cluster.objects.get(pk=products.pk).title
