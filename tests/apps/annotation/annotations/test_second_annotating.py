"""A share of pages is annotated twice, blindly; agreement is measured, differences are settled."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.algorithms.anchors.anchoring import Anchor, anchor_node
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import ReviewPolicy, SecondAnnotation
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.annotations.second_annotating import (
    agreement_at,
    annotate_again,
    check_blind,
    is_drawn,
    pages_to_annotate_again,
    resolve,
)
from annotation.services.verticals.policies import change_policy, policy_of
from clustering.models import Page
from clustering.services.pages.stored_trees import read_tree
from tests.apps.annotation.cast import attribute, cluster_of, product_page, said, shop
from vertex.core.models import AuditEntry, Role, Site, User
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def person(name: str, role: Role = Role.EDITOR) -> User:
    return people.create_user(username=name, role=role, actor=None)


def anchor(page: Page, xpath: str, text: str = "") -> Anchor:
    assert page.latest_snapshot is not None
    tree = read_tree(page.latest_snapshot)
    assert tree is not None
    return anchor_node(read_texts(tree), xpath, text)


def first_says(page: Page, who: User, name: str, *xpaths: str) -> None:
    assert page.latest_snapshot is not None
    marks = [AnnotatedValue(anchor(page, xpath)) for xpath in xpaths] or [AnnotatedValue()]
    annotate(snapshot=page.latest_snapshot, attribute=attribute(name), marks=marks, actor=who)


def second_says(page: Page, who: User, name: str, *xpaths: str) -> SecondAnnotation:
    assert page.latest_snapshot is not None
    anchors = [anchor(page, xpath) for xpath in xpaths]
    return annotate_again(
        snapshot=page.latest_snapshot, attribute=attribute(name), anchors=anchors, actor=who
    )


@pytest.fixture
def annotated() -> tuple[Site, list[Page], User]:
    """Return a shop, its pages and their annotator: a second person is to annotate every page.

    Each page shows a name.
    """
    site, ann = shop(), person("ann")
    change_policy(site=site, publishing="anybody", second_share=100, actor=None)
    pages = [product_page(site, f"p{n}", name=f"Runner {n}") for n in range(3)]
    cluster_of(site, "products", pages)
    for page in pages:
        first_says(page, ann, "name", "/html/body/h1")
    return site, pages, ann


Annotated = tuple[Site, list[Page], User]


class TestPolicy:
    def test_begins_with_a_tenth_and_a_second_person_where_there_is_one(self) -> None:
        policy = policy_of(shop())

        assert (10, ReviewPolicy.Publishing.WHERE_POSSIBLE) == (
            policy.second_share,
            policy.publishing,
        )

    def test_a_change_is_audited_once(self) -> None:
        site = shop()
        for _ in range(2):
            change_policy(site=site, publishing="second", second_share=25, actor=None)

        detail = AuditEntry.objects.get(action="review_policy.changed").detail
        assert {"was": 10, "now": 25} == detail["second_share"]

    @pytest.mark.parametrize(
        ("publishing", "share"), [("nobody", 10), ("second", 101), ("second", -1)]
    )
    def test_takes_nothing_else(self, publishing: str, share: int) -> None:
        with pytest.raises(ValidationError):
            change_policy(site=shop(), publishing=publishing, second_share=share, actor=None)


class TestDrawing:
    @given(st.binary(min_size=16, max_size=16), st.integers(0, 100), st.integers(0, 100))
    def test_a_larger_share_holds_the_smaller_one(
        self, url_hash: bytes, first: int, other: int
    ) -> None:
        assert is_drawn(url_hash, min(first, other)) <= is_drawn(url_hash, max(first, other))

    def test_a_tenth_is_about_a_tenth(self) -> None:
        drawn = sum(is_drawn(n.to_bytes(16, "big"), 10) for n in range(2_000))

        assert 150 < drawn < 250

    def test_pages_wait_for_others_than_their_annotator(self, annotated: Annotated) -> None:
        site, pages, ann = annotated
        bob = person("bob")

        assert ([], pages) == (
            pages_to_annotate_again(site, ann),
            pages_to_annotate_again(site, bob),
        )
        second_says(pages[0], bob, "name", "/html/body/h1")
        assert pages[1:] == pages_to_annotate_again(site, person("cyd"))
        change_policy(site=site, publishing="anybody", second_share=0, actor=None)
        assert [] == pages_to_annotate_again(site, bob)


class TestComparing:
    def test_the_same_node_agrees_whichever_path_names_it(self, annotated: Annotated) -> None:
        row = second_says(annotated[1][0], person("bob"), "name", "/html/body/h1/text()")

        assert ("same", 1) == (row.agreement, row.first_revision)
        assert (1, 1.0) == (agreement_at(annotated[0]).n_compared, agreement_at(annotated[0]).share)

    def test_another_node_and_absence_differ(self, annotated: Annotated) -> None:
        site, pages, ann = annotated
        bob = person("bob")
        first_says(pages[1], ann, "price")

        assert "other" == second_says(pages[0], bob, "name", "/html/body/p/b").agreement
        assert "absence" == second_says(pages[1], bob, "price", "/html/body/p/b").agreement
        assert (2, 0.0) == (
            SecondAnnotation.objects.disagreeing().count(),
            agreement_at(site).share,
        )

    def test_what_the_first_one_left_out_is_not_compared(self, annotated: Annotated) -> None:
        assert (
            "" == second_says(annotated[1][0], person("bob"), "price", "/html/body/p/b").agreement
        )

    def test_it_is_compared_again_when_the_first_one_changes(self, annotated: Annotated) -> None:
        _, pages, ann = annotated
        row = second_says(pages[0], person("bob"), "name", "/html/body/p/b")
        results = []
        for xpaths in (["/html/body/p/b"], []):
            first_says(pages[0], ann, "name", *xpaths)
            row.refresh_from_db()
            results.append((row.agreement, row.first_revision))

        assert [("same", 2), ("absence", 3)] == results

    def test_one_that_was_settled_is_not_compared_again(self, annotated: Annotated) -> None:
        _, pages, ann = annotated
        row = second_says(pages[0], person("bob"), "name", "/html/body/p/b")
        resolve(row=row, resolution="second", actor=person("rob", Role.REVIEWER))
        first_says(pages[0], ann, "name")
        row.refresh_from_db()

        assert ("other", 1) == (row.agreement, row.first_revision)

    def test_the_first_annotator_is_refused_and_a_third_one_too(self, annotated: Annotated) -> None:
        _, pages, ann = annotated
        with pytest.raises(ValidationError, match="You annotated this page yourself"):
            second_says(pages[0], ann, "name", "/html/body/h1")
        second_says(pages[0], person("bob"), "name", "/html/body/h1")
        with pytest.raises(ValidationError, match="bob has annotated this page"):
            check_blind(pages[0], person("cyd"))


class TestSettling:
    def test_the_first_stays_or_the_second_is_taken(self, annotated: Annotated) -> None:
        _, pages, _ = annotated
        bob, rob = person("bob"), person("rob", Role.REVIEWER)
        stays = second_says(pages[0], bob, "name", "/html/body/p/b")
        result = second_says(pages[1], bob, "name", "/html/body/p/b")
        resolve(row=stays, resolution="first", actor=rob)
        resolve(row=result, resolution="second", actor=rob)

        assert [("value", "/html/body/h1", "Runner 0")] == said(pages[0], "name")
        assert [("value", "/html/body/p/b", "25 EUR")] == said(pages[1], "name")
        assert 0 == SecondAnnotation.objects.disagreeing().count()
        with pytest.raises(ValidationError, match="settled this already"):
            resolve(row=result, resolution="first", actor=rob)


class TestPages:
    def client(self, name: str, role: Role = Role.EDITOR) -> Client:
        client = Client()
        client.force_login(person(name, role))
        return client

    def test_the_form_shows_nothing_of_the_first_annotation(self, annotated: Annotated) -> None:
        page = annotated[1][0]
        text = (
            self.client("bob")
            .get(reverse("annotate_again", args=["shop", page.pk]))
            .content.decode()
        )

        assert 'name="text-name" value=""' in text
        assert "Runner 0" not in text

    def test_texts_elements_and_absence_are_taken(self, annotated: Annotated) -> None:
        page = annotated[1][0]
        said_so = {
            "text-name": "Runner 0",
            "text-price": "25 EUR",
            "number-price": "4",
            "absent-colour": "yes",
        }
        answer = self.client("bob").post(reverse("annotate_again", args=["shop", page.pk]), said_so)

        assert 302 == answer.status_code
        assert {"name": "/html/body/h1/text()[1]", "price": "/html/body/p/b", "colour": None} == {
            row.attribute.name: row.marks[0]["xpath"] if row.marks else None
            for row in SecondAnnotation.objects.select_related("attribute")
        }

    def test_what_is_not_on_the_page_is_told_and_the_rest_kept(self, annotated: Annotated) -> None:
        address = reverse("annotate_again", args=["shop", annotated[1][0].pk])
        answer = self.client("bob").post(
            address,
            {
                "text-name": "Runner 0",
                "text-price": "no such",
                "number-image": "x",
                "text-image": "y",
            },
        )

        assert 400 == answer.status_code
        assert "no such" in answer.content.decode()
        assert ["name"] == [row.attribute.name for row in SecondAnnotation.objects.all()]

    def test_a_reviewer_sees_both_and_settles(self, annotated: Annotated) -> None:
        row = second_says(annotated[1][0], person("bob"), "name", "/html/body/p/b")
        rob = self.client("rob", Role.REVIEWER)
        address = reverse("second_annotations", args=["shop"])

        assert "Runner 0" in (text := rob.get(address).content.decode())
        assert "25 EUR" in text
        rob.post(reverse("resolve_disagreement", args=["shop", row.pk]), {"resolution": "first"})
        assert "Every difference is settled" in rob.get(address).content.decode()

    def test_an_editor_sees_what_waits_and_no_difference(self, annotated: Annotated) -> None:
        second_says(annotated[1][0], person("bob"), "name", "/html/body/p/b")
        text = self.client("cyd").get(reverse("second_annotations", args=["shop"])).content.decode()

        assert "Runner 0" not in text
        assert "Annotate the first one" in text
