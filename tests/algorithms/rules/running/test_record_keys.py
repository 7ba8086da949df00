"""Keys that stay when other records come and go."""

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.record_keys import detail_links, with_keys
from rules.algorithms.running.records import ExtractedRecord

NAME = AttributeType("name", is_constant=True)


def keys(
    names: list[str], links: list[list[str]] | None = None, url: str = "https://shop.example/l/"
) -> list[str | None]:
    records = [
        ExtractedRecord({"name": name} if name else {}, {}, {}, [], {}, {}, index=index)
        for index, name in enumerate(names)
    ]
    return [line.key for line in with_keys(records, [NAME], links or [[] for _ in names], url)]


def test_a_new_first_record_leaves_the_keys_of_the_others() -> None:
    names, links = ["Tent", "", "Rope"], [["/p/1"], ["/p/2"], ["/p/3"]]

    assert ["Tent", "/p/2", "Rope"] == keys(names, links)
    assert ["/p/9", "Tent", "/p/2", "Rope"] == keys(["", *names], [["/p/9"], *links])


def test_what_has_the_same_constants_is_told_apart_by_its_link_or_its_order() -> None:
    assert ["Tent | /p/1", "Tent | /p/2", "Rope"] == keys(
        ["Tent", "Tent", "Rope"], [["/p/1"], ["/p/2"], ["/p/3"]]
    )
    assert ["Tent", "Tent #2", "2"] == keys(["Tent", "Tent", ""])


def test_links_to_the_details_are_another_one_in_each_record() -> None:
    links = [
        ["#top", "/by/ann", "/story/1", "/cart?add=1"],
        ["/by/bob", "story/2", "/cart?add=2"],
        ["/by/ann", "mailto:a@b.example"],
    ]

    assert ["/story/1", "/story/2", ""] == detail_links(links, "https://a.example/")


def test_addresses_count_without_their_host_but_with_their_query() -> None:
    assert ["/l/show?id=1", "/l/show?id=2"] == detail_links(
        [["show?id=1#x"], ["https://other.example/l/show?id=2"]], "https://a.example/l/"
    )
    assert ["", ""] == detail_links([["http://[bad"], []])
