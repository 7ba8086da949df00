"""Groups by the XPath of the first inbound link, merged by fingerprints."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from lxml.html import HtmlElement

from clustering.algorithms.grouping import ClusteringInputs, EvidenceMissing, RawPage, SiteLink
from clustering.algorithms.path_sets import hash_paths
from clustering.algorithms.published.uxclust import (
    WITHOUT_POSITIONS,
    GroupOfXPath,
    assign,
    assign_page,
    cluster_pages,
    cut_off_for,
    digests_of,
    fingerprint_of,
    first_inbound,
    group_by_xpath,
    merge_groups,
    samples_of,
)
from clustering.dom.page import parse_page

HOME = "https://a.example/"
TECHNOLOGY, GARDEN, TOYS = (f"https://a.example/{number}.htm" for number in (6169, 5908, 5732))
CATEGORY = b"<html><body><h1>c</h1><ul><li>a</ul></body></html>"
PRODUCT = b"<html><body><h1>p</h1><table><tr><td>x</table><b>9</b></body></html>"


def link(target: str, xpath: str, source: str = HOME) -> SiteLink:
    return SiteLink(source, xpath, target)


def reader(
    body_by_url: dict[str, bytes], read: list[str] | None = None
) -> Callable[[str], HtmlElement | None]:
    def read_page(url: str) -> HtmlElement | None:
        if read is not None:
            read.append(url)
        body = body_by_url.get(url)
        return None if body is None else parse_page(body).tree

    return read_page


class TestPaper:
    def test_three_xpaths_two_groups(self) -> None:
        xpaths = ["/html/body/div[2]/a", "/html/body/div[2]/a", "/html/body/p[2]/center/a"]
        urls = [TECHNOLOGY, GARDEN, TOYS]
        links = [link(url, xpath) for url, xpath in zip(urls, xpaths, strict=True)]
        groups = group_by_xpath(urls, ClusteringInputs(links=links))

        assert [(0, 1), (2,)] == [tuple(group.members) for group in groups]

    def test_the_menu_of_figure_4_is_merged_by_its_pages(self) -> None:
        urls = [TECHNOLOGY, GARDEN, TOYS]
        links = [link(url, f"/html/body/div[4]/ul/li[{n}]/a") for n, url in enumerate(urls, 1)]
        evidence = ClusteringInputs(links=links, read=reader(dict.fromkeys(urls, CATEGORY)))

        assert [(0, 1, 2)] == [group.members for group in cluster_pages(urls, [], evidence).groups]

    def test_the_first_link_to_a_page_decides(self) -> None:
        links = [link(TOYS, "/a[1]"), link(TOYS, "/a[2]"), link(GARDEN, "/a[3]")]

        assert {TOYS: "/a[1]", GARDEN: "/a[3]"} == first_inbound(links)

    def test_a_path_must_occur_in_more_than_three_tenths_of_the_samples(self) -> None:
        samples = [np.array(paths, dtype=np.uint64) for paths in ([1, 2], [1, 2], [1, 3], [1], [1])]

        assert fingerprint_of(samples).tolist() == [1, 2]
        assert fingerprint_of(samples, 0.4).tolist() == [1]

    def test_groups_are_merged_where_their_jaccard_similarity_is_above_four_fifths(self) -> None:
        groups = [GroupOfXPath(str(n), [n], [n]) for n in range(3)]
        ten = hash_paths(map(str, range(10)))
        nine, eight = ten[:9], ten[:8]

        assert merge_groups(groups, [ten, nine, eight]) == [0, 0, 0]  # 0.9 and 0.89: a chain
        assert merge_groups(groups, [ten, ten[:8], ten[:1]]) == [0, 1, 2]  # 0.8 is not above

    def test_the_cut_off_is_that_of_the_paper_on_sites_of_its_size_and_small_on_small_ones(
        self,
    ) -> None:
        assert [1, 1, 2, 26, 100, 100] == [
            cut_off_for(n) for n in (0, 1_500, 2_000, 20_000, 76_503, 10**6)
        ]

    def test_groups_below_the_cut_off_are_dropped(self) -> None:
        urls = [f"https://a.example/{n}" for n in range(7)]
        links = [link(url, "/a" if n < 5 else "/b") for n, url in enumerate(urls)]
        grouping = cluster_pages(
            urls, [], ClusteringInputs(links=links, read=reader({})), cut_off=3
        )

        assert ((0, 1, 2, 3, 4), (5, 6)) == (grouping.groups[0].members, grouping.unassigned)

    def test_five_pages_of_a_group_are_read_and_no_others(self) -> None:
        urls = [f"https://a.example/{n}" for n in range(100)]
        read: list[str] = []
        evidence = ClusteringInputs(links=[link(url, "/a") for url in urls], read=reader({}, read))
        cluster_pages(urls, [], evidence)

        assert len(read) == len(set(read)) == 5

    def test_samples_do_not_depend_on_the_order_of_pages(self) -> None:
        urls = [f"https://a.example/{n}" for n in range(50)]
        here = samples_of(GroupOfXPath("/a", range(50), range(50)), digests_of(urls))
        there = samples_of(GroupOfXPath("/a", range(50), range(50)), digests_of(urls[::-1]))

        assert [urls[page] for page in here] == [urls[::-1][page] for page in there]


def test_the_page_where_the_crawl_begins_has_no_inbound_link() -> None:
    links = [
        link(HOME, "/logo"),
        link(TOYS, "/a"),
        link(HOME, "/logo", TOYS),
        link(TOYS, "/self", TOYS),
    ]

    assert {TOYS: "/a"} == first_inbound(links)


def test_a_link_of_a_page_to_itself_does_not_count() -> None:
    links = [link(GARDEN, "/b"), link(TOYS, "/self", TOYS), link(TOYS, "/a", GARDEN)]

    assert {GARDEN: "/b", TOYS: "/a"} == first_inbound(links)


def test_redirected_pages_are_neither_counted_nor_sampled() -> None:
    urls = [TECHNOLOGY, GARDEN, TOYS]
    links = [link(url, "/a") for url in urls]
    read: list[str] = []
    evidence = ClusteringInputs(links=links, read=reader({}, read), redirected=frozenset({TOYS}))

    assert (0, 1, 2) == cluster_pages(urls, [], evidence, cut_off=2).groups[0].members
    assert {TECHNOLOGY, GARDEN} == set(read)
    assert (0, 1, 2) == cluster_pages(urls, [], evidence, cut_off=3).unassigned


def test_without_positions_a_list_is_one_group() -> None:
    urls = [TECHNOLOGY, GARDEN, TOYS]
    links = [link(url, f"/html/body/ul/li[{n}]/a") for n, url in enumerate(urls, 1)]
    evidence = ClusteringInputs(links=links, read=reader({}))

    assert len(WITHOUT_POSITIONS.cluster_pages(urls, [], evidence).groups) == 1
    assert len(cluster_pages(urls, [], evidence).groups) == 3


def shop() -> tuple[list[str], ClusteringInputs]:
    categories = [f"https://a.example/c{n}" for n in range(4)]
    products = [f"https://a.example/p{n}" for n in range(12)]
    links = [link(url, f"/html/body/ul/li[{n}]/a") for n, url in enumerate(categories, 1)]
    links += [
        link(url, f"/html/body/table/tr[{n % 3 + 1}]/a", categories[n // 3])
        for n, url in enumerate(products)
    ]
    bodies = dict.fromkeys(categories, CATEGORY) | dict.fromkeys(products, PRODUCT)
    return [HOME, *categories, *products], ClusteringInputs(links=links, read=reader(bodies))


def test_the_order_of_pages_does_not_matter() -> None:
    urls, evidence = shop()
    order = list(range(len(urls)))
    random.Random(4).shuffle(order)
    here = cluster_pages(urls, [], evidence).labels(len(urls))
    there = cluster_pages([urls[i] for i in order], [], evidence).labels(len(urls))

    assert [here[i] for i in order] == there
    assert [12, 4] == [len(group.members) for group in cluster_pages(urls, [], evidence).groups]


def test_a_later_page_joins_the_group_of_its_inbound_link() -> None:
    urls, evidence = shop()
    grouping = cluster_pages(urls, [], evidence)
    products = grouping.groups[0].name

    assert products == assign(grouping.model, "/html/body/table/tr[2]/a", "")
    assert assign(grouping.model, "/html/body/p/a", "") is None
    assert assign(grouping.model, None, "") is None
    assert products == assign_page(grouping.model, RawPage("https://a.example/new", PRODUCT))
    assert assign_page(grouping.model, RawPage("https://a.example/new", b"<video>")) is None


def test_missing_evidence_is_told() -> None:
    with pytest.raises(EvidenceMissing, match="crawl the site"):
        cluster_pages([HOME], [], ClusteringInputs(read=reader({})))
    with pytest.raises(EvidenceMissing, match="read sample pages"):
        cluster_pages([HOME], [], ClusteringInputs(links=[link(TOYS, "/a")]))


def test_hostile_sites_end_well() -> None:
    urls = [f"https://a.example/{n}" for n in range(3_000)]
    different = [link(url, f"/html/body/p[{n}]/a") for n, url in enumerate(urls)]
    equal = [link(url, "/a") for url in urls]

    assert cluster_pages([], [], ClusteringInputs(links=equal, read=reader({}))).groups == []
    assert cluster_pages([HOME], [], ClusteringInputs(links=equal, read=reader({}))).unassigned == (
        0,
    )
    assert len(cluster_pages(urls, [], ClusteringInputs(links=equal, read=reader({}))).groups) == 1
    every = cluster_pages(
        urls,
        [],
        ClusteringInputs(links=different, read=reader(dict.fromkeys(urls, b""))),
        cut_off=1,
    )
    assert len(every.groups) == 3_000
