"""Verticals: what they may be, how they change, and which site speaks them."""

import threading
from typing import Any

import orjson
import pytest
from django.db import connection

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Assignment, Attribute, Vertical
from annotation.services.verticals.verticals import (
    BadVertical,
    ChangedMeanwhile,
    VerticalInUse,
    assign_vertical,
    check_vertical,
    delete_vertical,
    describe,
    problem_of_regex,
    read_vertical,
    ready_made_verticals,
    save_vertical,
)
from clustering.models import Cluster
from vertex.core.models import AuditEntry, Site

pytestmark = pytest.mark.both_databases

PRICE = AttributeType("price", "price", is_mandatory=True, regex=r"\$\d+")
NAME = AttributeType("name")


def save(*attributes: AttributeType, name: str = "product", **options: Any) -> Vertical:
    return save_vertical(name=name, attributes=attributes or (NAME, PRICE), actor=None, **options)


def live(vertical: Vertical) -> list[str]:
    return list(vertical.attributes.live().values_list("name", flat=True))


def problems(document: object) -> list[str]:
    with pytest.raises(BadVertical) as bad:
        check_vertical(
            read_vertical(document if isinstance(document, bytes) else orjson.dumps(document))
        )
    return bad.value.problems


class TestReading:
    def test_takes_what_the_contract_names_and_ignores_the_rest(self) -> None:
        entry = {
            "name": "photo",
            "type": "image/url",
            "constant": True,
            "mandatory": True,
            "multi": True,
        }
        document = {
            "vertical": "product",
            "attributes": [entry | {"regex": "x", "example": 1}],
            "source": {},
        }
        plan = read_vertical(b"\xef\xbb\xbf" + orjson.dumps(document))
        expected = AttributeType(
            "photo", "image", is_constant=True, is_mandatory=True, is_multi=True, regex="x"
        )
        assert ("product", (expected,), None) == (plan.name, plan.attributes, plan.description)

    def test_a_key_left_out_or_null_has_its_default(self) -> None:
        document = {
            "name": "product",
            "attributes": [{"name": "a"}, {"name": "b", "type": None, "regex": None}],
        }
        assert (AttributeType("a"), AttributeType("b")) == read_vertical(
            orjson.dumps(document)
        ).attributes

    @pytest.mark.parametrize("name", Attribute.Type.values)
    def test_knows_all_types(self, name: str) -> None:
        document = {"name": "x", "attributes": [{"name": "a", "type": name.upper()}]}
        assert name == read_vertical(orjson.dumps(document)).attributes[0].type

    @pytest.mark.parametrize(
        ("document", "problem"),
        [
            (b"{", "not JSON"),
            (b"\xff", "not JSON"),
            ([], "not a JSON object"),
            ({"attributes": [{"name": "a"}]}, "the vertical has no name"),
            ({"name": "x"}, "it has no attribute"),
            ({"name": "x", "attributes": {}}, '"attributes" is'),
            ({"name": "x", "attributes": ["name"]}, "attribute 1 is not a JSON object"),
            ({"name": 7, "attributes": [{"name": "a"}]}, "\"name\" is '7', but must be a text"),
            ({"name": "a/b", "attributes": [{"name": "a"}]}, "the vertical “a/b” cannot be used"),
            ({"name": "x" * 64, "attributes": [{"name": "a"}]}, "cannot be used"),
            ({"name": "x", "attributes": [{}]}, "attribute 1: the name has no name"),
            ({"name": "x", "attributes": [{"name": "two words"}]}, "cannot be used"),
            ({"name": "x", "attributes": [{"name": "a\0"}]}, "cannot be used"),
            (
                {"name": "x", "attributes": [{"name": "a", "type": "colour"}]},
                "the type “colour” is not one of text, price",
            ),
            (
                {"name": "x", "attributes": [{"name": "a", "multi": "yes"}]},
                "\"multi\" is 'yes', but must be true or false",
            ),
            ({"name": "x", "attributes": [{"name": "a", "multi": 1}]}, "must be true or false"),
            (
                {"name": "x", "attributes": [{"name": "a"}, {"name": "a"}]},
                "there are 2 attributes “a”",
            ),
            (
                {"name": "x", "attributes": [{"name": "a", "regex": "("}]},
                "attribute 1 (a): the regex cannot be used: missing )",
            ),
            (
                {"name": "x", "attributes": [{"name": "a", "regex": "x" * 513}]},
                "longer than 512 characters",
            ),
            (
                {"name": "x", "attributes": [{"name": f"a{n}"} for n in range(201)]},
                "more than 200 attributes",
            ),
            (
                {"name": "x", "description": "x" * 301, "attributes": [{"name": "a"}]},
                "the description is longer",
            ),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_says_what_is_wrong(self, document: object, problem: str) -> None:
        assert any(problem in told for told in problems(document)), problems(document)

    def test_says_all_that_is_wrong_at_once(self) -> None:
        document = {
            "name": "x",
            "attributes": [{"name": "a", "type": "t"}, {"name": "b", "regex": "(?=x)"}],
        }
        assert 2 == len(problems(document))


class TestRegex:
    @pytest.mark.parametrize(
        "regex", ["", r"\$\d+", r"(?i)[a-zà-ü]+", r"\p{Greek}", "x" * 512, "(a+)+$"]
    )
    def test_may_be_any_of_re2(self, regex: str) -> None:
        assert "" == problem_of_regex(regex)

    @pytest.mark.parametrize(
        ("regex", "part"),
        [
            (r"(?=a)", "(?="),
            (r"(?!a)", "(?!"),
            (r"(?<=a)b", "(?<="),
            (r"(?<!a)b", "(?<!"),
            (r"(a)\1", r"\1"),
        ],
    )
    def test_may_not_look_around_or_back(self, regex: str, part: str) -> None:
        expected = (
            f"the regex uses {part}, which RE2 does not have: no look-around, no back-references"
        )
        assert expected == problem_of_regex(regex)

    def test_may_not_hold_what_nobody_sees(self) -> None:
        assert "cannot be seen" in problem_of_regex("a\0b")


@pytest.mark.django_db
class TestSaving:
    def test_creates_a_vertical_with_its_attributes_in_order(self) -> None:
        vertical = save(NAME, PRICE, description="A thing for sale")
        assert ["name", "price"] == live(vertical)
        price = vertical.attributes.get(name="price")
        assert ("price", True, False, r"\$\d+", 1) == (
            price.type, price.is_mandatory, price.is_multi, price.regex, price.position,
        )  # fmt: skip
        assert ["vertical.created"] == list(AuditEntry.objects.values_list("action", flat=True))

    def test_twice_the_same_changes_nothing(self) -> None:
        save()
        vertical = save()
        assert (1, 1) == (vertical.version, AuditEntry.objects.count())

    def test_an_attribute_that_vanishes_is_dropped_and_lives_again_when_it_comes_back(self) -> None:
        before = save().attributes.get(name="price")
        vertical = save(NAME)
        before.refresh_from_db()
        assert (["name"], False) == (live(vertical), before.dropped_at is None)
        vertical = save(AttributeType("price", "number"), NAME)
        assert (["price", "name"], 3) == (live(vertical), vertical.version)
        assert before.pk == vertical.attributes.get(name="price").pk

    def test_a_description_not_told_stays(self) -> None:
        save(description="A thing for sale")
        assert "A thing for sale" == save(NAME).description
        assert "" == save(description="").description

    def test_a_change_of_an_older_version_is_refused(self) -> None:
        save()
        save(NAME, version=1)
        with pytest.raises(ChangedMeanwhile):
            save(PRICE, version=1)
        assert ["name"] == live(Vertical.objects.get())

    def test_a_bad_one_changes_nothing(self) -> None:
        save()
        with pytest.raises(BadVertical):
            save(NAME, NAME)
        assert ["name", "price"] == live(Vertical.objects.get())

    def test_describes_itself_as_what_can_be_read(self) -> None:
        save(NAME, PRICE, description="A thing for sale")
        text = orjson.dumps(describe(Vertical.objects.get()))
        plan = read_vertical(text)
        assert ("product", (NAME, PRICE), "A thing for sale") == (
            plan.name,
            plan.attributes,
            plan.description,
        )

    @pytest.mark.django_db(transaction=True)
    def test_two_editors_at_once_overwrite_nothing(self) -> None:
        save()
        outcomes: list[str] = []

        def change(name: str) -> None:
            try:
                save(AttributeType(name), version=1)
                outcomes.append(name)
            except ChangedMeanwhile:
                outcomes.append("refused")
            finally:
                connection.close()

        editors = [threading.Thread(target=change, args=(f"by_{n}",)) for n in range(4)]
        for editor in editors:
            editor.start()
        for editor in editors:
            editor.join()
        [saved] = [name for name in outcomes if name != "refused"]
        assert ([saved], 2) == (live(Vertical.objects.get()), Vertical.objects.get().version)


@pytest.mark.django_db
class TestFinding:
    def test_searches_names_descriptions_and_attributes(self) -> None:
        save(description="A thing for sale")
        save(AttributeType("headline"), name="article")
        save(NAME, name="product")  # price is dropped
        result = {
            word: [v.name for v in Vertical.objects.matching(word)]
            for word in ("PROD", "sale", "head", "price", "zzz")
        }
        assert {
            "PROD": ["product"],
            "sale": ["product"],
            "head": ["article"],
            "price": [],
            "zzz": [],
        } == result

    def test_counts_attributes_and_sites(self) -> None:
        vertical = save()
        for name in ("a", "b", "c"):
            assign_vertical(
                site=Site.objects.create(name=name, root_url="http://x/"),
                vertical=vertical,
                actor=None,
            )
        save(NAME)
        counted = Vertical.objects.with_counts().get()
        assert (1, 3) == (counted.n_attributes, counted.n_sites)  # type: ignore[attr-defined]


@pytest.mark.django_db
class TestAssigning:
    @pytest.fixture
    def shop(self) -> Site:
        return Site.objects.create(name="shop", root_url="http://shop.example/")

    def test_gives_changes_and_takes_away(self, shop: Site) -> None:
        product, article = save(), save(name="article")
        for vertical in (product, product, article, None, None):
            assign_vertical(site=shop, vertical=vertical, actor=None)
            assert (
                [vertical]
                if vertical
                else []
                == [assignment.vertical for assignment in Assignment.objects.filter(site=shop)]
            )
        entries = AuditEntry.objects.filter(action="vertical.assigned", site=shop).order_by("pk")
        assert ["product", "article", "none"] == [entry.subject for entry in entries]

    def test_a_vertical_in_use_is_not_deleted(self, shop: Site) -> None:
        vertical = save()
        assign_vertical(site=shop, vertical=vertical, actor=None)
        with pytest.raises(VerticalInUse, match="“product” is the vertical of shop"):
            delete_vertical(vertical=vertical, actor=None)
        assign_vertical(site=shop, vertical=None, actor=None)
        delete_vertical(vertical=vertical, actor=None)
        assert not Vertical.objects.exists()


def test_the_ready_made_ones_are_fit_to_be_saved() -> None:
    names = [plan.name for plan in ready_made_verticals()]
    for plan in ready_made_verticals():
        check_vertical(plan)
    expected = [
        "article",
        "business",
        "forum_thread",
        "job",
        "movie",
        "person",
        "product",
        "real_estate",
        "video",
    ]
    assert expected == names


@pytest.mark.django_db
class TestAssigningToAClusterAlone:
    def test_the_cluster_has_its_own_and_the_others_the_site_s(self) -> None:
        site = Site.objects.create(name="shop", root_url="http://shop.example/")
        threads, others = (
            Cluster.objects.create(site=site, name=name, title=name) for name in ("a", "b")
        )
        product, forum = save(name="product"), save(name="forum")
        assign_vertical(site=site, vertical=product, actor=None)
        assign_vertical(site=site, cluster=threads, vertical=forum, actor=None)

        assert (forum, product, product) == tuple(
            Assignment.objects.vertical_of(site, cluster) for cluster in (threads, others, None)
        )
        assign_vertical(site=site, cluster=threads, vertical=None, actor=None)
        assert product == Assignment.objects.vertical_of(site, threads)

    def test_a_vertical_of_one_cluster_is_in_use(self) -> None:
        site = Site.objects.create(name="shop", root_url="http://shop.example/")
        cluster = Cluster.objects.create(site=site, name="a", title="a")
        forum = save(name="forum")
        assign_vertical(site=site, cluster=cluster, vertical=forum, actor=None)

        with pytest.raises(VerticalInUse, match="the vertical of shop"):
            delete_vertical(vertical=forum, actor=None)
