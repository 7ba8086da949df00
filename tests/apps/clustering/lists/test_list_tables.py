"""Lists as tables, and crawls of a list with its pages and details."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from clustering.dom.page import parse_page
from clustering.models import Page
from clustering.services.crawl.list_crawling import crawl_list, list_crawl_request
from clustering.services.lists.list_tables import tables_of, tables_of_snapshot
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.apps.core.test_commands import call
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue

HTML = {"Content-Type": "text/html"}
N_PAGES, N_OF_PAGE = 3, 8


def list_page(number: int) -> bytes:
    items = "".join(
        f"<li class=item><h3 class=name><a href=/p/{k}>The thing {k}</a></h3>"
        + (f"<span class=price>{k}.50 EUR</span>" if k % 3 else "")
        + f"<p class=about>What the thing number {k} is about, at some length.</p></li>"
        for k in range(number * N_OF_PAGE, (number + 1) * N_OF_PAGE)
    )
    onward = (
        f"<a class=next href='/list?page={number + 2}'>Next</a>" if number + 1 < N_PAGES else ""
    )
    return f"<html><body><a href=/help>Help</a><ul>{items}</ul>{onward}</body></html>".encode()


def product(number: int, n_reviews: int) -> str:
    """Return a product with its reviews, which have fields of their own, one of them not always."""
    reviews = "".join(
        f"<li class=review><b class=who>Reader {number}{k}</b> <span class=stars>{k + 1} of 5</span>"
        + (f"<p class=said>Said of thing {number}, part {k}.</p>" if k % 2 else "")
        for k in range(n_reviews)
    )
    price = f"<span class=price>{number}.50 EUR</span>" if number % 3 else ""
    return (
        f"<article class=product><h2><a href=/p/{number}>The thing {number}</a></h2>{price}"
        f"<ul class=reviews>{reviews}</ul><p class=stock>{number} left</p></article>"
    )


def readers_of(row: dict[str, str | list[str]]) -> list[str]:
    """Return the readers whose reviews a row has, in one column or in one for each."""
    found = [value for name, value in row.items() if name.startswith("who")]
    return [one for value in found for one in ([value] if isinstance(value, str) else value)]


class TestTables:
    @pytest.fixture
    def table(self) -> Any:
        tree = parse_page(list_page(0)).tree
        assert tree is not None
        return tables_of(tree, "https://shop.example/list")[0]

    def test_a_record_is_a_row_with_names(self, table: Any) -> None:
        assert {"name": "The thing 1", "price": "1.50 EUR"}.items() <= table.rows()[1].items()

    def test_what_a_record_lacks_is_not_in_its_row(self, table: Any) -> None:
        assert ["price" in row for row in table.rows()] == [k % 3 > 0 for k in range(N_OF_PAGE)]

    @pytest.mark.parametrize(
        "counts", [(0, 3, 1, 2, 0, 4, 1, 2), (2,) * 8], ids=["some", "as many in each"]
    )
    def test_a_list_inside_a_record_moves_no_value_of_the_record(
        self, counts: tuple[int, ...]
    ) -> None:
        page = "".join(map(product, range(1, len(counts) + 1), counts))
        tree = parse_page(f"<main>{page}</main>".encode()).tree
        assert tree is not None
        rows = tables_of(tree, "https://shop.example/list")[0].rows()

        told = [(row["title"], row.get("price"), row["stock"]) for row in rows]
        assert [
            (f"The thing {n}", f"{n}.50 EUR" if n % 3 else None, f"{n} left")
            for n in range(1, len(counts) + 1)
        ] == told
        assert [[f"Reader {n}{k}" for k in range(count)] for n, count in enumerate(counts, 1)] == [
            readers_of(row) for row in rows
        ]

    def test_places_are_those_of_the_values(self, table: Any) -> None:
        tree = parse_page(list_page(0)).tree
        assert tree is not None
        for number, row in enumerate(table.rows()):
            path_by_name = {one.name: one.nodes[number] for one in table.columns}
            assert {name for name, paths in path_by_name.items() if paths} == set(row)
            for name, value in row.items():
                (path,) = path_by_name[name]
                node = tree.xpath(path)[0]
                assert value == (
                    node if isinstance(node, str) else "".join(map(str, node.itertext()))
                )

    def test_pages_and_details_are_told(self, table: Any) -> None:
        assert "https://shop.example/list?page=2" == table.next_url
        assert [f"https://shop.example/p/{k}" for k in range(N_OF_PAGE)] == table.details

    def test_a_table_is_plain_values_that_can_be_kept(self, table: Any) -> None:
        assert table == pickle.loads(pickle.dumps(table))

    def test_a_page_without_a_list_has_no_table(self) -> None:
        tree = parse_page(b"<h1>Nothing</h1>").tree
        assert tree is not None
        assert [] == tables_of(tree, "https://shop.example/")

    def test_the_command_writes_a_line_for_each_record(self, tmp_path: Path) -> None:
        (tmp_path / "list.html").write_bytes(list_page(0))
        (tmp_path / "none.html").write_bytes(b"<h1>Nothing</h1>")
        lines, _ = call("list_table", tmp_path, "--base-url", "https://shop.example")

        assert [*range(N_OF_PAGE), None] == [line.get("index") for line in lines]
        assert "https://shop.example/p/0" == lines[0]["detail"]
        assert ({}, "no list") == (lines[-1]["record"], lines[-1]["reason"])


@pytest.fixture
def host() -> Iterator[FakeHost]:
    routes = {f"/list?page={n + 1}": Answer(list_page(n), headers=HTML) for n in range(N_PAGES)}
    routes |= {
        f"/p/{k}": Answer(b"<h1>Thing</h1>", headers=HTML) for k in range(N_PAGES * N_OF_PAGE)
    }
    routes |= {"/list": Answer(list_page(0), headers=HTML), "/help": Answer(b"help", headers=HTML)}
    with FakeHost(routes) as serving:
        yield serving


def crawled(host: FakeHost, **options: Any) -> tuple[Job, set[str]]:
    site, _ = Site.objects.get_or_create(name="shop", root_url=f"{host.url}/")
    job = create_here(list_crawl_request(site=site, url=f"{host.url}/list", delay=0, **options))
    job = jobs.run_job(job.pk, crawl_list)
    stored = Page.objects.filter(site=site, state=Page.State.STORED).values_list("url", flat=True)
    return job, {url.removeprefix(host.url) for url in stored}


@pytest.mark.django_db
@pytest.mark.usefixtures("loopback")
class TestCrawling:
    def test_a_list_comes_with_all_its_pages_and_details(self, host: FakeHost) -> None:
        job, stored = crawled(host)

        assert Job.State.DONE == job.state, job.error
        assert {"/list", "/list?page=2", "/list?page=3"} | {f"/p/{k}" for k in range(24)} == stored
        assert job.result is not None
        assert [3, 24, 24] == [job.result[name] for name in ("lists", "records", "details")]

    def test_details_and_pages_can_be_left_out(self, host: FakeHost) -> None:
        job, stored = crawled(host, follows_pages=False, follows_details=False)

        assert {"/list"} == stored
        assert job.result is not None
        page = Page.objects.select_related("latest_snapshot").get(pk=job.result["page"])
        assert page.latest_snapshot is not None
        assert N_OF_PAGE == len(tables_of_snapshot(page.latest_snapshot)[0].rows())

    def test_no_more_pages_than_asked_are_fetched(self, host: FakeHost) -> None:
        _, stored = crawled(host, max_pages=5)

        assert 5 == len(stored)

    def test_a_job_done_again_asks_for_nothing_twice(self, host: FakeHost) -> None:
        job, _ = crawled(host)
        n_asked = len(host.paths)
        Job.objects.filter(pk=job.pk).update(state=Job.State.DUE)
        again = jobs.run_job(job.pk, crawl_list)

        assert (Job.State.DONE, n_asked) == (again.state, len(host.paths))

    @pytest.mark.parametrize(
        ("url", "more", "problem"),
        [
            ("https://elsewhere.example/list", {}, "does not belong"),
            ("ftp://x/", {}, "ftp"),
            ("https://shop.example/list", {"max_pages": 0}, "at least 1"),
        ],
    )
    def test_what_cannot_be_crawled_is_refused(
        self, url: str, more: dict[str, Any], problem: str
    ) -> None:
        site = Site.objects.create(name="shop", root_url="https://shop.example/")
        with pytest.raises(ValidationError, match=problem):
            enqueue(list_crawl_request(site=site, url=url, **more))
