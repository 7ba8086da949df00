"""The pages of verticals."""

from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Assignment, Vertical
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Cluster
from tests.apps.annotation.cast import cluster_of, product_page
from tests.apps.clustering.api_cast import site_of
from vertex.core.models import Role, Site
from vertex.core.services.people import people

pytestmark = pytest.mark.django_db


def client_of(role: Role, site: Site | None = None) -> Client:
    user = people.create_user(username=f"{role}-{site or 'all'}", role=role, site=site, actor=None)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def eddy() -> Client:
    return client_of(Role.EDITOR)


@pytest.fixture
def vera() -> Client:
    return client_of(Role.VIEWER)


@pytest.fixture
def product() -> Vertical:
    attributes = [AttributeType("name"), AttributeType("price", "price", is_mandatory=True)]
    return save_vertical(
        name="product", attributes=attributes, description="A thing for sale", actor=None
    )


def posted(*rows: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return what a browser sends for these rows."""
    entries = {
        f"form-{n}-{key}": value
        for n, row in enumerate(rows)
        for key, value in ({"type": "text"} | row).items()
    }
    return (
        {"form-TOTAL_FORMS": len(rows), "form-INITIAL_FORMS": 0, "version": 0, "description": ""}
        | entries
        | fields
    )


def live() -> list[str]:
    return list(Vertical.objects.get().attributes.live().values_list("name", flat=True))


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


class TestList:
    def test_says_what_to_do_when_empty(self, eddy: Client, vera: Client) -> None:
        address = reverse("verticals")
        assert "Take a ready-made one below" in text(eddy.get(address))
        assert "An editor can add one" in text(vera.get(address))
        assert "Ready-made" not in text(vera.get(address))

    def test_shows_verticals_and_offers_the_ready_made_that_are_missing(
        self, eddy: Client, product: Vertical
    ) -> None:
        response = eddy.get(reverse("verticals"))
        assert ["product"] == [row.name for row in response.context["page"].rows]
        offered = [plan.name for plan in response.context["ready_made"]]
        assert ("article" in offered, "product" in offered) == (True, False)

    @pytest.mark.both_databases
    def test_is_searched(self, eddy: Client, product: Vertical) -> None:
        assert "product" in text(eddy.get(reverse("verticals"), {"q": "price"}))
        assert "No vertical matches “\N{SNOWMAN}”" in text(
            eddy.get(reverse("verticals"), {"q": "\N{SNOWMAN}"})
        )

    @pytest.mark.both_databases
    def test_takes_any_search(self, eddy: Client) -> None:
        for query in ("\0", "%", "'", "x" * 5000):
            assert 200 == eddy.get(reverse("verticals"), {"q": query}).status_code


class TestAdding:
    def test_a_ready_made_one_takes_one_click(self, eddy: Client) -> None:
        response = eddy.post(reverse("load_ready_made"), {"name": "article"}, follow=True)
        assert "article is added." in text(response)
        assert "headline" in live()
        assert 404 == eddy.post(reverse("load_ready_made"), {"name": "../../x"}).status_code

    def test_by_hand_takes_rows_in_their_order_and_leaves_blank_ones_out(
        self, eddy: Client
    ) -> None:
        rows: list[dict[str, Any]] = [
            {"name": "b", "ORDER": 2},
            {"name": "", "ORDER": 4},
            {"name": "a", "ORDER": 1, "is_multi": "on"},
            {"name": "c", "DELETE": "on"},
        ]
        response = eddy.post(reverse("add_vertical"), posted(*rows, name="thing"))
        assert (302, reverse("vertical", args=["thing"])) == (
            response.status_code,
            response["Location"],
        )
        assert ["a", "b"] == live()
        assert Vertical.objects.get().attributes.get(name="a").is_multi

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([], "It has no attribute"),
            ([{"name": "two words"}], "Use 1 to 63 letters"),
            ([{"name": "a"}, {"name": "a"}], "There are two attributes “a”"),
            ([{"name": "a", "regex": "(?=x)"}], "The regex uses (?=, which RE2 does not have"),
            ([{"name": "", "regex": "x"}], "Give the attribute a name"),
            ([{"name": "a", "type": "colour"}], "Select a valid choice"),
        ],
    )
    def test_by_hand_says_what_is_wrong_and_keeps_what_was_typed(
        self, eddy: Client, rows: list[dict[str, str]], problem: str
    ) -> None:
        response = eddy.post(
            reverse("add_vertical"), posted(*rows, name="thing", description="typed")
        )
        assert (400, False) == (response.status_code, Vertical.objects.exists())
        assert problem in text(response)
        assert 'value="typed"' in text(response)

    def test_a_name_that_is_taken_is_refused(self, eddy: Client, product: Vertical) -> None:
        response = eddy.post(reverse("add_vertical"), posted({"name": "a"}, name="product"))
        assert "There is a vertical “product” already" in text(response)
        assert ["name", "price"] == live()

    def test_from_a_file(self, eddy: Client) -> None:
        document = {"name": "thing", "attributes": [{"name": "a"}]}
        file = SimpleUploadedFile("thing.json", orjson.dumps(document))
        eddy.post(reverse("import_vertical"), {"file": file})
        assert ["a"] == live()

    @pytest.mark.parametrize(
        "content",
        [b"{", b"\xff\x00", b'{"name": "x", "attributes": [{"name": "a b"}]}', b"[" * 90_000],
    )
    def test_from_a_bad_file_says_what_is_wrong(self, eddy: Client, content: bytes) -> None:
        response = eddy.post(
            reverse("import_vertical"), {"file": SimpleUploadedFile("x.json", content)}
        )
        assert (400, True, False) == (
            response.status_code,
            "field-errors" in text(response),
            Vertical.objects.exists(),
        )

    def test_from_no_file_says_so(self, eddy: Client) -> None:
        assert "This field is required" in text(eddy.post(reverse("import_vertical"), {}))


class TestChanging:
    def test_saves_the_rows(self, eddy: Client, product: Vertical) -> None:
        address = reverse("vertical", args=["product"])
        eddy.post(address, posted({"name": "price", "type": "price"}, {"name": "brand"}, version=1))
        assert ["price", "brand"] == live()
        assert "Removed earlier, with annotations kept: name" in text(eddy.get(address))

    def test_can_be_undone(self, eddy: Client, product: Vertical) -> None:
        response = eddy.post(
            reverse("vertical", args=["product"]), posted({"name": "brand"}, version=1), follow=True
        )
        [message] = response.context["messages"]
        undo = orjson.loads(message.extra_tags)
        eddy.post(undo["url"], dict(undo["fields"]))
        assert (["name", "price"], "A thing for sale") == (
            live(),
            Vertical.objects.get().description,
        )

    def test_after_somebody_else_overwrites_nothing(self, eddy: Client, product: Vertical) -> None:
        save_vertical(name="product", attributes=[AttributeType("other")], actor=None)
        response = eddy.post(
            reverse("vertical", args=["product"]), posted({"name": "brand"}, version=1)
        )
        assert (400, ["other"]) == (response.status_code, live())
        assert "was changed by somebody else meanwhile" in text(response)
        assert 'value="brand"' in text(response)

    def test_deleting_can_be_undone(self, eddy: Client, product: Vertical) -> None:
        response = eddy.post(reverse("delete_vertical", args=["product"]), follow=True)
        assert not Vertical.objects.exists()
        [message] = response.context["messages"]
        undo = orjson.loads(message.extra_tags)
        eddy.post(undo["url"], dict(undo["fields"]))
        assert ["name", "price"] == live()

    def test_deleting_one_in_use_says_where(self, eddy: Client, product: Vertical) -> None:
        site = Site.objects.create(name="shop", root_url="http://shop.example/")
        assign_vertical(site=site, vertical=product, actor=None)
        response = eddy.post(reverse("delete_vertical", args=["product"]), follow=True)
        assert "“product” is the vertical of shop" in text(response)
        assert Vertical.objects.exists()


class TestSeeing:
    def test_a_viewer_reads_and_exports(self, vera: Client, product: Vertical) -> None:
        page = text(vera.get(reverse("vertical", args=["product"])))
        assert ("price" in page, '<button class="button button-primary"' in page) == (True, False)
        document = orjson.loads(vera.get(reverse("export_vertical", args=["product"])).content)
        assert ["name", "price"] == [attribute["name"] for attribute in document["attributes"]]

    def test_a_viewer_changes_nothing(self, vera: Client, product: Vertical) -> None:
        answers = {
            vera.post(
                reverse("vertical", args=["product"]), posted({"name": "x"}, version=1)
            ).status_code,
            vera.post(reverse("delete_vertical", args=["product"])).status_code,
            vera.post(reverse("load_ready_made"), {"name": "article"}).status_code,
            vera.post(reverse("import_vertical"), {"document": "{}"}).status_code,
            vera.get(reverse("add_vertical")).status_code,
        }
        assert ({403}, ["name", "price"]) == (answers, live())

    def test_names_only_sites_that_one_may_see(self, product: Vertical) -> None:
        for name in ("alpine", "boreas"):
            site = Site.objects.create(name=name, root_url="http://x.example/")
            assign_vertical(site=site, vertical=product, actor=None)
        page = text(
            client_of(Role.VIEWER, Site.objects.get(name="alpine")).get(
                reverse("vertical", args=["product"])
            )
        )
        assert ("alpine" in page, "boreas" in page, "Used by 2 sites" in page) == (
            True,
            False,
            True,
        )

    def test_what_is_typed_is_shown_as_text(self, eddy: Client) -> None:
        attributes = [AttributeType("a", regex="<script>")]
        save_vertical(
            name="x", attributes=attributes, description="<script>alert(1)</script>", actor=None
        )
        for address in (reverse("verticals"), reverse("vertical", args=["x"])):
            assert "<script>alert" not in text(eddy.get(address))


class TestBesideThePage:
    """A vertical is made and changed beside the page that it describes, and leads back to it."""

    def blocked(self, eddy: Client) -> tuple[str, Cluster]:
        site = site_of("shop")
        cluster = cluster_of(site, "gear", [product_page(site, "p/1"), product_page(site, "p/2")])
        page = site.pages.select_related("latest_snapshot").get(url__endswith="p/2")
        assert page.latest_snapshot is not None
        sample = cluster.samples.create(
            page=page, snapshot=page.latest_snapshot, rank=1, gain=1.0, scheme="weighted"
        )
        return reverse("annotate_page", args=["shop", "gear", sample.rank]), cluster

    def test_the_page_is_shown_where_a_vertical_is_asked_for_and_made(self, eddy: Client) -> None:
        address, cluster = self.blocked(eddy)
        asked = eddy.get(address)
        assert "What do these pages describe?" in text(asked)
        assert "data-page-frame" in text(asked)
        where = f"{reverse('add_vertical')}?site=shop&cluster=gear&rank=1"
        assert where.replace("&", "&amp;") in text(asked)
        assert "data-page-frame" in text(eddy.get(where))

        answer = eddy.post(where, posted({"name": "title"}, name="gear"))
        assert address == answer["Location"]
        vertical = Assignment.objects.vertical_of(cluster.site, cluster)
        assert vertical is not None
        assert "gear" == vertical.name
        assert "What do these pages describe?" not in text(eddy.get(address))

        change = f"{reverse('vertical', args=['gear'])}?site=shop&cluster=gear&rank=1"
        assert "data-page-frame" in text(eddy.get(change))
        rows = posted({"name": "title"}, {"name": "weight"}, version=vertical.version)
        rows["form-INITIAL_FORMS"] = 1
        assert address == eddy.post(change, rows)["Location"]
        assert ["title", "weight"] == live()

    def test_a_ready_made_one_is_taken_there_too(self, eddy: Client) -> None:
        address, cluster = self.blocked(eddy)
        assert "Ready-made" in text(eddy.get(address))
        describe = reverse("describe_cluster", args=["shop", "gear"])
        assert address == eddy.post(describe, {"vertical": "article", "rank": "1"})["Location"]
        assert "article" == Assignment.objects.get(cluster=cluster).vertical.name
        nowhere = eddy.post(describe, {"vertical": "../x", "rank": "9" * 99})
        assert address == nowhere["Location"]

    def test_nobody_is_led_to_a_site_of_others(self) -> None:
        other = client_of(Role.EDITOR, site_of("other"))
        self.blocked(other)
        where = f"{reverse('add_vertical')}?site=shop&cluster=gear"
        assert "data-page-frame" not in text(other.get(where))
        answer = other.post(where, posted({"name": "title"}, name="thing"))
        assert reverse("vertical", args=["thing"]) == answer["Location"]
        assert not Assignment.objects.exists()
