"""What editors do on a page: each gesture is a revision that can be undone, and none is lost."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.algorithms.anchors.picking import PickedPlace
from annotation.models import Annotation
from annotation.services.annotations.annotated_values import current_revision
from annotation.services.annotations.annotating import AnnotatedMeanwhile
from annotation.services.page import gestures
from annotation.services.page.stored_pages import read_page
from clustering.algorithms.records.finding import find_records
from clustering.models import Page
from tests.apps.annotation.cast import attribute, product_page, said, shop
from vertex.core.models import AuditEntry, Membership, Role, Site, User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LIST = """<ul><li class="card"><h2>One</h2><b>1 EUR</b></li><li class="card"><h2>Two</h2><b>2 EUR</b></li>
<li class="card"><h2>Three</h2></li></ul>"""
H1, B = 2, 4  # html, body, h1, p, b, img


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def page(site: Site) -> Page:
    return product_page(site, "p/1", more=LIST)


@pytest.fixture
def ada() -> User:
    user: User = User.objects.create_user("ada")
    Membership.objects.create(user=user, role=Role.EDITOR)
    return user


@pytest.fixture
def browser(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def tell(
    browser: Client, page: Page, gesture: str, *, status: int = 200, **words: Any
) -> dict[str, Any]:
    """Report a gesture and return the answer."""
    url = reverse("gesture", args=[page.site.name, page.pk, page.latest_snapshot_id])
    answer = browser.post(url, {"gesture": gesture, **words}, content_type="application/json")
    assert status == answer.status_code, answer.content
    told: dict[str, Any] = answer.json() if "json" in answer["Content-Type"] else {}
    return told


def take(
    browser: Client, page: Page, name: str, number: int, *, revision: int = 0, **words: Any
) -> dict[str, Any]:
    place = {"number": number, "text": None}
    return tell(browser, page, "take", attribute=name, revision=revision, place=place, **words)


def is_only_here(page: Page) -> list[bool]:
    rows = Annotation.objects.live().filter(page=page).order_by("position")
    return list(rows.values_list("is_only_here", flat=True))


def number_of(page: Page, xpath: str) -> int:
    assert page.latest_snapshot is not None
    shown = read_page(page.latest_snapshot)
    nodes: Any = shown.texts.tree.xpath(xpath)
    return shown.number_of(nodes[0])


def texts(page: Page, name: str) -> list[str]:
    return [text for _, _, text in said(page, name)]


class TestTaking:
    def test_a_click_takes_the_node(self, browser: Client, page: Page) -> None:
        answer = take(browser, page, "name", H1)
        assert [("value", "/html/body/h1", "Runner")] == said(page, "name")
        assert [{"page": page.pk, "attribute": "name", "before": 0, "after": 1}] == answer[
            "changes"
        ]
        assert "Runner" in answer["rows"]["name"]

    def test_shift_takes_the_parent(self, browser: Client, page: Page) -> None:
        take(browser, page, "price", B, widens=True)
        assert ["Price: 25 EUR"] == texts(page, "price")

    def test_a_drag_takes_a_part(self, browser: Client, page: Page) -> None:
        text = {"number": B, "textNode": 0, "start": 0, "end": 2, "endNumber": B, "endTextNode": 0}
        place = {"number": B, "text": text}
        tell(browser, page, "take", attribute="price", revision=0, place=place)
        assert [("value", "/html/body/p/b/text()[1]", "25")] == said(page, "price")

    def test_a_picture_is_taken_by_its_address(self, browser: Client, page: Page) -> None:
        take(browser, page, "image", number_of(page, "//img"))
        assert ["/p/1.png"] == texts(page, "image")

    def test_a_second_click_replaces_the_value(self, browser: Client, page: Page) -> None:
        take(browser, page, "name", H1)
        take(browser, page, "name", B, revision=1)
        assert ["25 EUR"] == texts(page, "name")

    def test_an_attribute_with_several_values_collects_them(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "colour", B)
        take(browser, page, "colour", H1, revision=1)
        take(browser, page, "colour", H1, revision=2)
        assert ["Runner", "25 EUR"] == texts(page, "colour")
        tell(browser, page, "remove", attribute="colour", position=0, revision=3)
        assert ["25 EUR"] == texts(page, "colour")

    def test_that_a_value_is_only_here_is_said_and_taken_back(
        self, browser: Client, site: Site
    ) -> None:
        page = product_page(site, "p/9", more="<i>Runner</i><u>Runner</u>")
        row = take(browser, page, "name", H1)["rows"]["name"]
        assert "also shown at 2 other places" in row
        answer = tell(
            browser, page, "only_here", attribute="name", position=0, only_here=True, revision=1
        )
        assert "only here" in answer["rows"]["name"]
        assert [True] == is_only_here(page)

        changes = [{"attribute": "name", "shown": 2, "wanted": 1}]
        row = tell(browser, page, "restore", changes=changes)["rows"]["name"]
        assert "also shown at 2 other places" in row
        assert [False] == is_only_here(page)
        changes = [{"attribute": "name", "shown": 3, "wanted": 2}]
        tell(browser, page, "restore", changes=changes)
        assert [True] == is_only_here(page)

    def test_a_value_that_stands_once_has_no_other_places(
        self, browser: Client, page: Page
    ) -> None:
        row = take(browser, page, "colour", B)["rows"]["colour"]
        assert "also shown" not in row
        assert "Only here" not in row

    def test_from_one_node_to_another(self, browser: Client, page: Page) -> None:
        ends = {"number": number_of(page, "//li[1]/b"), "end_number": number_of(page, "//li[1]/h2")}
        tell(browser, page, "take_run", attribute="name", revision=0, **ends)
        assert ["One 1 EUR"] == texts(page, "name")

    def test_a_part_of_the_text_by_keyboard(self, browser: Client, page: Page) -> None:
        tell(
            browser, page, "take_text", attribute="price", revision=0, number=B - 1, start=7, end=9
        )
        assert ["25"] == texts(page, "price")

    def test_all_like_these(self, browser: Client, page: Page) -> None:
        take(browser, page, "colour", number_of(page, "//li[1]/h2"))
        tell(browser, page, "take_alike", attribute="colour", revision=1)
        assert ["One", "Two", "Three"] == texts(page, "colour")

    def test_all_like_nothing_says_what_to_do(self, browser: Client, page: Page) -> None:
        answer = tell(browser, page, "take_alike", status=422, attribute="colour", revision=0)
        assert "take a value first" in answer["problems"][0]

    def test_a_node_that_shows_nothing_says_so(self, browser: Client, page: Page) -> None:
        assert page.latest_snapshot is not None
        answer = tell(
            browser,
            page,
            "take",
            status=422,
            attribute="name",
            revision=0,
            place={"number": 99, "text": None},
        )
        assert "none with the number 99" in answer["problems"][0]

    def test_not_on_this_page(self, browser: Client, page: Page) -> None:
        said_of = [{"attribute": "price", "revision": 0}, {"attribute": "name", "revision": 0}]
        tell(browser, page, "absent", annotations=said_of)
        assert [("absent", "", "")] == said(page, "price") == said(page, "name")


class TestAccepting:
    def test_all_that_was_proposed_is_written_down_at_once(
        self, browser: Client, page: Page, ada: User
    ) -> None:
        mark = {"xpath": "/html/body/p[1]/b", "end_xpath": "", "start": 0, "end": 2, "text": "25"}
        parts = [
            {
                "attribute": "name",
                "revision": 0,
                "marks": [{"xpath": "/html/body/h1", "text": "Runner"}],
            },
            {"attribute": "price", "revision": 0, "marks": [mark]},
            {"attribute": "image", "revision": 0, "marks": [], "absent": True},
        ]
        answer = tell(browser, page, "accept", annotations=parts)
        assert (["Runner"], ["25"]) == (texts(page, "name"), texts(page, "price"))
        assert [("absent", "", "")] == said(page, "image")
        assert 3 == len(answer["changes"])
        assert {("suggestion", ada.pk)} == set(Annotation.objects.values_list("source", "author"))

    def test_what_cannot_be_found_is_told_and_the_rest_is_kept(
        self, browser: Client, page: Page
    ) -> None:
        parts = [
            {
                "attribute": "name",
                "revision": 0,
                "marks": [{"xpath": "/html/body/h9", "text": "Runner"}],
            },
            {"attribute": "price", "revision": 0, "marks": [{"xpath": "/html/body/p[1]/b"}]},
        ]
        answer = tell(browser, page, "accept", annotations=parts)
        assert ["25 EUR"] == texts(page, "price")
        assert "name: no node at" in answer["problems"][0]

    def test_what_somebody_changed_meanwhile_holds_up_nothing_else(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "name", B)
        marks = [{"xpath": "/html/body/h1"}]
        parts = [
            {"attribute": "name", "revision": 0, "marks": marks},
            {"attribute": "price", "revision": 0, "marks": [{"xpath": "/html/body/p[1]/b"}]},
        ]
        answer = tell(browser, page, "accept", annotations=parts)
        assert ["name"] == [each["attribute"] for each in answer["conflicts"]]
        assert (["25 EUR"], ["25 EUR"]) == (texts(page, "name"), texts(page, "price"))
        entries = AuditEntry.objects.filter(action="annotation.changed").values_list("detail")
        assert [{"attribute": "name", "revision": 1}, {"attribute": "price", "revision": 1}] == [
            detail for (detail,) in entries.order_by("pk")
        ]

    def test_many_attributes_cost_no_more_queries_than_one(
        self, browser: Client, site: Site
    ) -> None:
        names = ["name", "price", "colour"]
        n_queries = []
        for number, n in enumerate((1, 1, 3)):  # the first of all fills caches
            page = product_page(site, f"p/{number}")
            parts = [
                {"attribute": name, "revision": 0, "marks": [{"xpath": "/html/body/h1"}]}
                for name in names[:n]
            ]
            with CaptureQueriesContext(connection) as queries:
                answer = tell(browser, page, "accept", annotations=parts)
            assert n == len(answer["changes"])
            n_queries.append(len(queries))
        assert n_queries[1] == n_queries[2]


class TestRecords:
    def test_a_click_marks_the_record_and_its_siblings(self, browser: Client, page: Page) -> None:
        answer = take(browser, page, "", number_of(page, "//li[2]/h2"))
        assert 3 == len(said(page, None))
        assert {"", "name", "price", "colour", "image"} == set(answer["rows"])

    def test_a_value_belongs_to_the_record_around_it(self, browser: Client, page: Page) -> None:
        take(browser, page, "", number_of(page, "//li[1]"))
        take(browser, page, "name", number_of(page, "//li[1]/h2"))
        take(browser, page, "name", number_of(page, "//li[2]/h2"), revision=1)
        assert ["One", "Two"] == texts(page, "name")
        records = Annotation.objects.live().filter(attribute__name="name").order_by("position")
        assert [["/html/body/ul/li[1]"], ["/html/body/ul/li[2]"]] == [row.record for row in records]

    def test_within_a_record_the_value_is_replaced(self, browser: Client, page: Page) -> None:
        take(browser, page, "", number_of(page, "//li[1]"))
        take(browser, page, "name", number_of(page, "//li[1]/h2"))
        take(browser, page, "name", number_of(page, "//li[1]/b"), revision=1)
        assert ["1 EUR"] == texts(page, "name")

    def test_the_list_that_was_found_is_taken_whole(self, browser: Client, site: Site) -> None:
        rows = "".join(
            f"<div class='row'><h3>Thing {n}</h3><p>It costs {n} EUR and is good.</p></div>"
            for n in range(9)
        )
        page = product_page(site, "list", more=f"<section>{rows}</section>")
        tell(browser, page, "accept", annotations=[{"attribute": "", "revision": 0}])
        assert page.latest_snapshot is not None
        records = find_records(read_page(page.latest_snapshot).texts.tree)[0]
        assert len(records.records) == len(said(page, None)) > 1


class TestUndo:
    def test_a_gesture_is_undone_and_done_again(self, browser: Client, page: Page) -> None:
        take(browser, page, "name", H1)
        take(browser, page, "name", B, revision=1)
        undone = tell(
            browser, page, "restore", changes=[{"attribute": "name", "shown": 2, "wanted": 1}]
        )
        assert ["Runner"] == texts(page, "name")
        now = undone["changes"][0]["after"]
        tell(browser, page, "restore", changes=[{"attribute": "name", "shown": now, "wanted": 2}])
        assert ["25 EUR"] == texts(page, "name")

    def test_the_first_gesture_is_undone_to_nothing(self, browser: Client, page: Page) -> None:
        take(browser, page, "name", H1)
        tell(browser, page, "restore", changes=[{"attribute": "name", "shown": 1, "wanted": 0}])
        assert [] == said(page, "name")

    def test_a_change_further_back_is_undone_after_the_later_one(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "name", H1)
        take(browser, page, "name", B, revision=1)
        tell(browser, page, "restore", changes=[{"attribute": "name", "shown": 2, "wanted": 1}])
        tell(browser, page, "restore", changes=[{"attribute": "name", "shown": 1, "wanted": 0}])
        assert [] == said(page, "name")

    def test_what_somebody_else_did_meanwhile_is_not_undone(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "name", H1)
        take(browser, page, "name", B, revision=1)
        change = {"attribute": "name", "shown": 1, "wanted": 0}
        answer = tell(browser, page, "restore", status=409, changes=[change])
        assert ["25 EUR"] == texts(page, "name")
        assert "ada took “25 EUR”" in answer["conflicts"][0]["text"]

    def test_records_are_undone_too(self, browser: Client, page: Page) -> None:
        take(browser, page, "", number_of(page, "//li[2]"))
        tell(browser, page, "restore", changes=[{"attribute": "", "shown": 1, "wanted": 0}])
        assert [] == said(page, None)


class TestConflicts:
    def test_a_gesture_that_comes_too_late_is_told_what_holds_now(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "name", H1)
        place = {"number": B, "text": None}
        late = tell(browser, page, "take", status=409, attribute="name", revision=0, place=place)
        assert ["Runner"] == texts(page, "name")
        assert [
            {"attribute": "name", "revision": 1, "text": "ada took “Runner” meanwhile."}
        ] == late["conflicts"]
        assert 'data-revision="1"' in late["rows"]["name"]

    def test_mine_is_taken_with_the_revision_that_holds_now(
        self, browser: Client, page: Page
    ) -> None:
        take(browser, page, "name", H1)
        take(browser, page, "name", B, revision=1)
        assert ["25 EUR"] == texts(page, "name")

    def test_values_that_are_added_never_conflict(self, browser: Client, page: Page) -> None:
        take(browser, page, "colour", H1)
        take(browser, page, "colour", B)
        assert ["Runner", "25 EUR"] == texts(page, "colour")

    def test_both_are_kept_where_there_may_be_several(self, browser: Client, page: Page) -> None:
        take(browser, page, "colour", H1)
        mark = {"xpath": "/html/body/p[1]/b"}
        part = {"attribute": "colour", "revision": 0, "marks": [mark], "adds": True}
        tell(browser, page, "accept", annotations=[part])
        assert ["Runner", "25 EUR"] == texts(page, "colour")


@pytest.mark.parametrize(
    "words",
    [
        {"gesture": "fly"},
        {"gesture": 3},
        {"gesture": "take", "attribute": "nothing", "revision": 0, "place": {"number": 1}},
        {"gesture": "take", "attribute": "name", "revision": -1, "place": {"number": 1}},
        {"gesture": "take", "attribute": "name", "revision": True, "place": {"number": 1}},
        {"gesture": "take", "attribute": "name", "revision": 0, "place": {"number": "1"}},
        {"gesture": "take", "attribute": "name", "revision": 0},
        {"gesture": "accept", "annotations": "all"},
        {"gesture": "accept", "annotations": ["all"]},
        {"gesture": "absent", "annotations": [{"attribute": "", "revision": 0}]},
    ],
)
def test_a_gesture_of_another_form_is_refused(
    browser: Client, page: Page, words: dict[str, Any]
) -> None:
    tell(browser, page, words.pop("gesture"), status=400, **words)
    assert not Annotation.objects.exists()


def test_hostile_texts_stay_texts(browser: Client, site: Site) -> None:
    page = product_page(site, "x", name="&lt;script&gt;alert(1)&lt;/script&gt;")
    answer = take(browser, page, "name", H1)
    assert ["<script>alert(1)</script>"] == texts(page, "name")
    assert "<script>" not in answer["rows"]["name"]


def test_a_page_of_another_site_is_not_reached(browser: Client, page: Page) -> None:
    other = Site.objects.create(name="other", root_url="https://other.example/")
    url = reverse("gesture", args=[other.name, page.pk, page.latest_snapshot_id])
    assert (
        404 == browser.post(url, {"gesture": "clear"}, content_type="application/json").status_code
    )


def test_viewers_change_nothing(page: Page) -> None:
    eve = User.objects.create_user("eve")
    Membership.objects.create(user=eve, role=Role.VIEWER)
    client = Client()
    client.force_login(eve)
    tell(client, page, "clear", status=403, attribute="name", revision=0)


N_EDITORS, N_EDITS = 8, 50


@pytest.mark.django_db(transaction=True)
def test_eight_editors_on_one_page_lose_nothing(page: Page) -> None:
    """Each reads the revision, edits, and on a conflict repeats its edit on the new revision."""
    assert page.latest_snapshot is not None
    snapshot = page.latest_snapshot
    names = ["name", "price", "colour", "image"]
    created: list[gestures.GestureChange] = []

    def edit(editor: int) -> None:
        shown = read_page(snapshot)
        for n in range(N_EDITS):
            subject = gestures.Subject(
                snapshot, shown, attributes[names[(editor + n) % len(names)]], None
            )
            revision = current_revision(page, subject.attribute)
            while True:
                try:
                    created.append(gestures.mark_absent(subject=subject, revision=revision))
                    break
                except AnnotatedMeanwhile as late:
                    revision = late.revision
        connection.close()

    attributes = {name: attribute(name) for name in names}
    editors = [threading.Thread(target=edit, args=[editor]) for editor in range(N_EDITORS)]
    for one in editors:
        one.start()
    for one in editors:
        one.join()

    assert N_EDITORS * N_EDITS == len(created) == len(set(created))
    assert N_EDITORS * N_EDITS == Annotation.objects.count()
    revisions = {name: current_revision(page, attributes[name]) for name in names}
    assert N_EDITORS * N_EDITS == sum(revisions.values())
    assert 4 == Annotation.objects.live().count()


@pytest.mark.django_db(transaction=True)
def test_values_that_many_editors_add_are_all_there(site: Site) -> None:
    items = "".join(f"<i>value {n}</i>" for n in range(40))
    page = product_page(site, "many", more=items)
    assert page.latest_snapshot is not None
    snapshot = page.latest_snapshot
    colour = attribute("colour")
    first = number_of(page, "//i[1]")

    def add(editor: int) -> None:
        shown = read_page(snapshot)
        subject = gestures.Subject(snapshot, shown, colour, None)
        for n in range(editor, 40, 4):
            place = PickedPlace(first + n)
            gestures.take(
                subject=subject, anchor=gestures.anchor_clicked(subject, place), revision=0
            )
        connection.close()

    editors = [threading.Thread(target=add, args=[editor]) for editor in range(4)]
    for one in editors:
        one.start()
    for one in editors:
        one.join()
    assert [f"value {n}" for n in range(40)] == texts(page, "colour")
