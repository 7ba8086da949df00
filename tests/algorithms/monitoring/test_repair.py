"""Golden values that are found again after a redesign."""

from __future__ import annotations

from lxml.html import document_fromstring

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.repair import KnownPage, choose_pages, propose_annotations
from monitoring.algorithms.value_places import ValueFrame, ValueIndex

NAME = AttributeType("name", is_constant=True, is_mandatory=True)
CODE = AttributeType("code", is_constant=True)
TAGS = AttributeType("tags", is_multi=True)
VIEWS = AttributeType("views", "number", is_mandatory=True)
PRICE = AttributeType("price", "price", is_mandatory=True)


def redesigned(n: int, *, views: int, price: str = "", code: bool = True) -> ValueIndex:
    row = f"<dt>Code</dt><dd>AS-{n}</dd>" if code else ""
    return ValueIndex(
        document_fromstring(
            f"<html><body><nav><a>Rope {n}</a> <i>{n}</i></nav><article><h2>Rope {n}</h2>"
            f"<span>seen <b>{views}</b> times</span><em>{price or f'€{n}.00'}</em><dl>{row}</dl>"
            f"<ul><li>red {n}</li><li>blue</li></ul></article><p>Related: "
            f"€{n + 1}.00</p></body></html>"
        )
    )


def known(n: int, *, has_code: bool = True, price: str = "") -> KnownPage:
    golden = {
        "name": f"Rope {n}",
        "tags": [f"red {n}", "blue"],
        "views": f"{1000 + n}",
        "price": f"€{n}.00",
    } | ({"code": f"AS-{n}"} if has_code else {})
    page = redesigned(n, views=1010 + n, price=price, code=has_code)
    return KnownPage(f"u{n}", page, golden, {"code": "code"}, {"name": "h2"})


PAGES = [known(n, has_code=n % 3 > 0) for n in range(10, 19)]
PROPOSED = propose_annotations(PAGES, [NAME, CODE, TAGS, VIEWS, PRICE])


def texts(attribute: str) -> list[list[str]]:
    return [[each.place.text for each in page.values.get(attribute, ())] for page in PROPOSED]


def test_every_constant_value_is_found_again() -> None:
    assert [[f"Rope {n}"] for n in range(10, 19)] == texts("name")


def test_the_old_tag_and_the_neighbourhood_decide_between_equal_texts() -> None:
    assert {"h2"} == {page.values["name"][0].place.tag for page in PROPOSED}


def test_what_is_not_there_is_absent() -> None:
    lacking = {f"u{n}" for n in range(10, 19) if n % 3 == 0}

    assert lacking == {page.url for page in PROPOSED if "code" in page.absent}
    assert [[]] * len(lacking) == [
        text for text, page in zip(texts("code"), PROPOSED, strict=True) if page.url in lacking
    ]


def test_all_values_of_a_list_are_found_or_none() -> None:
    assert [[f"red {n}", "blue"] for n in range(10, 19)] == texts("tags")
    broken = KnownPage("x", redesigned(3, views=5), {"tags": ["red 3", "green"]})

    assert "tags" not in propose_annotations([*PAGES, broken], [TAGS])[-1].values


def test_a_cloud_of_all_tags_is_not_the_list_of_a_page() -> None:
    all_tags = [f"tag {letter}" for letter in "abcdefgh"]

    def page(n: int) -> KnownPage:
        mine = all_tags[n : n + 2]
        lists = "".join(
            f"<ul class={name}>{''.join(f'<li>{tag}</li>' for tag in tags)}</ul>"
            for name, tags in (("cloud", all_tags), ("mine", mine))
        )
        return KnownPage(
            f"t{n}",
            ValueIndex(document_fromstring(f"<html><body>{lists}</body></html>")),
            {"tags": mine},
        )

    result = propose_annotations([page(n) for n in range(6)], [TAGS])
    assert {"/html/body/ul[2]"} == {
        one.place.xpath.partition("/li")[0] for page in result for one in page.values["tags"]
    }


def test_numbers_that_changed_on_every_page_are_found_where_the_page_has_them() -> None:
    assert [[f"{1010 + n}"] for n in range(10, 19)] == texts("views")


def test_changed_numbers_follow_the_place_of_those_that_did_not_change() -> None:
    steady = [
        KnownPage(f"s{n}", redesigned(n, views=1000 + n), {"views": f"{1000 + n}"})
        for n in range(20, 26)
    ]
    grown = KnownPage("g", redesigned(30, views=1050), {"views": "1030"})

    assert (
        "1050" == propose_annotations([*steady, grown], [VIEWS])[-1].values["views"][0].place.text
    )


def test_a_price_found_elsewhere_by_chance_is_not_proposed() -> None:
    pages = [*PAGES, known(19, price="€77.00"), known(20)]
    pages[-1].golden["price"] = "€21.00"  # type: ignore[index]  # a dict: the page shows it as another's price

    assert "price" not in propose_annotations(pages, [PRICE])[-1].values


def test_pages_are_chosen_that_show_each_attribute_and_its_lack() -> None:
    sample = choose_pages(PROPOSED, 5)

    assert 5 == len(sample)
    assert any("code" in page.absent for page in sample)
    assert any("code" in page.values for page in sample)


def test_a_page_on_which_nothing_is_found_is_not_chosen() -> None:
    lost = KnownPage("x", redesigned(3, views=5), {"name": "Axe"})

    assert [] == choose_pages(propose_annotations([lost], [NAME]), 3)


def layout(n: int, *, is_tabular: bool) -> KnownPage:
    """Return a page of one of two layouts, with a menu of all codes."""
    menu = "".join(f"<li>AS-{number}</li>" for number in range(20, 36))
    rows = f"<p class=fact><b>Code</b> <i>AS-{n}</i></p>"
    if is_tabular:
        rows = f"<table><tr><th>Item</th><td>AS-{n}</td></tr></table>"
    body = f"<html><body><ul>{menu}</ul><h1>Rope {n}</h1>{rows}</body></html>"
    return KnownPage(f"u{n}", ValueIndex(document_fromstring(body)), {"code": f"AS-{n}"})


class TestLayouts:
    def test_a_layout_of_few_pages_has_a_shape_of_its_own(self) -> None:
        pages = [layout(n, is_tabular=n >= 32) for n in range(20, 36)]
        shapes = [page.values["code"][0].place.tag for page in propose_annotations(pages, [CODE])]

        assert ["i"] * 12 + ["td"] * 4 == shapes

    def test_a_menu_that_shows_any_value_is_no_shape(self) -> None:
        pages = [layout(n, is_tabular=False) for n in range(20, 32)]
        lost = [
            KnownPage(f"x{n}", layout(n, is_tabular=False).page, {"code": f"AS-{n + 1}"})
            for n in range(21, 25)
        ]

        assert all(
            "code" not in page.values for page in propose_annotations([*pages, *lost], [CODE])[12:]
        )

    def test_pages_to_learn_from_are_of_both_layouts(self) -> None:
        pages = [layout(n, is_tabular=n >= 32) for n in range(20, 36)]
        sample = choose_pages(propose_annotations(pages, [CODE]), 4)

        assert {"i", "td"} == {page.values["code"][0].place.tag for page in sample}


class TestFrames:
    REVIEWS = AttributeType("reviews", "number")

    def page(self, n: int, shown: str, *, frame: ValueFrame | None) -> KnownPage:
        body = f"<html><body><h1>Rope {n}</h1><b>{n}</b><p>{shown}</p><i>9 days</i></body></html>"
        frames = {"reviews": frame} if frame else {}
        tree = document_fromstring(body)
        return KnownPage(f"u{n}", ValueIndex(tree), {"reviews": f"{n}"}, frames=frames)

    def test_a_number_is_found_between_the_words_that_stood_around_it(self) -> None:
        plural, single = ValueFrame("", " reviews"), ValueFrame("", " review")
        pages = [self.page(n, f"{n + 40} reviews", frame=plural) for n in range(3, 9)]
        pages.append(self.page(1, "1 review", frame=single))
        results = [
            [value.place.text for value in page.values["reviews"]]
            for page in propose_annotations(pages, [self.REVIEWS])
        ]

        assert [[f"{n + 40}"] for n in range(3, 9)] + [["1"]] == results

    def test_what_is_no_number_there_is_not_taken(self) -> None:
        pages = [self.page(n, "no reviews", frame=ValueFrame("", " reviews")) for n in range(3, 9)]

        assert not any(page.values for page in propose_annotations(pages, [self.REVIEWS]))

    def test_the_words_are_read_from_the_old_page(self) -> None:
        old = self.page(3, "3 reviews", frame=None).page

        assert ValueFrame("", " reviews") == old.frame_at("/html/body/p", "3")
        assert old.frame_at("/html/body/p", "5") is None
        assert not ValueFrame("€", "").is_telling


class TestSeveralSlots:
    NAMES = AttributeType("names", is_constant=True, is_multi=True)

    def page(self, n: int, *, names: list[str] | None = None) -> KnownPage:
        menu = "".join(f"<li>Rope {number}</li>" for number in range(10, 30))
        body = f"<ul>{menu}</ul><h1>Rope {n} of hemp</h1><p><b>Item</b> <i>Rope {n}</i></p>"
        tree = document_fromstring(f"<html><body>{body}</body></html>")
        return KnownPage(
            f"u{n}", ValueIndex(tree), {"names": names or [f"Rope {n} of hemp", f"Rope {n}"]}
        )

    def tags(self, pages: list[KnownPage]) -> list[list[str]]:
        return [
            [value.place.tag for value in page.values.get("names", ())]
            for page in propose_annotations(pages, [self.NAMES])
        ]

    def test_values_that_stand_in_different_places_are_all_found(self) -> None:
        assert [["h1", "i"]] * 8 == self.tags([self.page(n) for n in range(10, 18)])

    def test_a_page_with_a_value_that_stands_at_none_of_the_slots_is_left_out(self) -> None:
        pages = [self.page(n) for n in range(10, 18)]
        wrong = self.page(20, names=["Rope 20 of hemp", "Rope 21"])

        assert [["h1", "i"]] * 8 + [[]] == self.tags([*pages, wrong])


def test_a_menu_entry_is_not_taken_for_a_label_of_the_next_one() -> None:
    teams = ["Hawks", "Bobcats", "Bulls", "Lakers", "Magic", "Suns", "Heat"]
    menu = "".join(f'<li title="{team}">{team}</li>' for team in teams)

    def page(n: int, team: str, stored: str) -> KnownPage:
        body = f"<html><body><ul>{menu}</ul><p>Position {n}</p><h2>{team}</h2></body></html>"
        tree = document_fromstring(body)
        return KnownPage(f"u{n}", ValueIndex(tree), {"code": stored})

    pages = [
        page(n, "Hawks" if n < 10 else "Bulls", "Hawks" if n < 10 else "Bulls") for n in range(16)
    ]
    wrong = page(16, "Hawks", "Bulls")

    proposed = propose_annotations([*pages, wrong], [CODE])
    assert ["h2"] * 16 == [found.values["code"][0].place.tag for found in proposed[:16]]
    assert "code" not in proposed[16].values


def test_what_an_attribute_of_an_element_shows_is_not_absent() -> None:
    def page(n: int, golden: dict[str, str], *, has_name: bool = True) -> KnownPage:
        meta = f'<meta property="og:title" content="Rope {n}">' if has_name else ""
        body = f"<html><head>{meta}</head><body><p>{n}</p></body></html>"
        return KnownPage(f"u{n}", ValueIndex(document_fromstring(body)), golden)

    pages = [page(n, {"name": f"Rope {n}"}) for n in range(10, 18)]
    pages += [page(18, {}), page(19, {}, has_name=False)]

    absent = [found.absent for found in propose_annotations(pages, [NAME])]
    assert [frozenset()] * 9 + [frozenset({"name"})] == absent
