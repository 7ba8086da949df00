"""Keys that stay when other records come and go."""

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.record_keys import detail_links, with_details, with_keys
from rules.algorithms.running.records import ExtractedRecord

NAME = AttributeType("name", is_constant=True)


def keys(
    names: list[str], links: list[list[str]] | None = None, url: str = "https://shop.example/l/"
) -> list[str | None]:
    records = [
        ExtractedRecord({"name": name} if name else {}, {}, {}, [], {}, {}, index=index)
        for index, name in enumerate(names)
    ]
    details = detail_links(links or [[] for _ in names], url)
    return [line.key for line in with_keys(records, [NAME], details, url)]


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

    assert ["/story/1", "story/2", ""] == detail_links(links, "https://a.example/")


def test_words_of_a_title_make_no_link_one_to_share_or_print() -> None:
    titles = ["a-town-to-share", "print-room-reopens", "reports-of-a-cartoon", "basketball"]
    links = [[f"/add-to-cart/{title}", f"/story/{title}", f"/share?u=/{title}"] for title in titles]

    assert [f"/story/{title}" for title in titles] == detail_links(links)


def test_addresses_count_without_their_host_but_with_their_query() -> None:
    links = [["show?id=1#x"], ["https://other.example/l/show?id=2"]]
    assert ["/l/show?id=1", "/l/show?id=2"] == keys(["", ""], links, "https://a.example/l/")
    assert ["", ""] == detail_links([["http://[bad"], []])


def details(links: list[list[str]], encoding: str = "utf-8") -> list[str]:
    records = [ExtractedRecord({}, {}, {}, [], {}, {}) for _ in links]
    base = "https://a.example/base/"
    found = with_details(
        records, detail_links(links, "https://a.example/l/"), base, encoding=encoding
    )
    return [record.details_url for record in found]


def test_details_have_the_addresses_under_which_their_pages_are_stored() -> None:
    links = [["show?id=1#x"], ["http://OTHER.example:80/l/show?id=2"], ["show?id=%E4;ä"]]

    assert [
        "https://a.example/base/show?id=1",
        "http://other.example/l/show?id=2",
        "https://a.example/base/show?id=%E4;%E4",
    ] == details(links, "windows-1252")


def test_what_few_records_of_a_list_lead_to_is_not_called_their_details() -> None:
    assert ["", "", ""] == details([["/review/1"], [], []])
    assert ["https://a.example/p/1", "https://a.example/p/2", ""] == details(
        [["/p/1"], ["/p/2"], []]
    )
