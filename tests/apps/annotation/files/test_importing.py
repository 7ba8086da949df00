"""Annotations from files: what is taken, what is refused and why, and how they go out again."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation
from annotation.services.files.importing import import_annotations, import_request
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.models import Page, Snapshot
from tests.apps.annotation.cast import cluster_of, product_page, said, shop
from tests.apps.core.test_commands import call, fail
from vertex.core.models import AuditEntry, Job, Refusal, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.demo import sites

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

URL = "https://shop.example/p/1"
LIST = "<ul><li>red</li><li>blue</li></ul>"


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def page(site: Site) -> Page:
    return product_page(site, "p/1", more=LIST)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "annotations.jsonl"


def run(site: Site, file: Path, *lines: Any) -> list[tuple[str, str]]:
    """Import the lines and return what was told of the bad ones."""
    file.write_bytes(
        b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
    )
    results: list[tuple[str, str]] = []
    job = create_here(import_request(site=site, source=file))
    job = run_job(job.pk, import_annotations, report=results.append)
    assert Job.State.DONE == job.state, job.error
    return results


def line(name: str = "name", **more: Any) -> dict[str, Any]:
    return {"url": URL, "attribute": name} | more


class TestTaking:
    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({"xpath": "/html/body/h1"}, ("value", "/html/body/h1", "Runner")),
            (
                {"xpath": "//h1/text()", "text": "Runner"},
                ("value", "/html/body/h1/text()[1]", "Runner"),
            ),
            ({"xpath": "/html/body/p", "text": "25"}, ("value", "/html/body/p", "25")),
            ({"text": "25 EUR"}, ("value", "/html/body/p/b/text()[1]", "25 EUR")),
            ({"xpath": "//img/@src"}, ("value", "/html/body/img/@src", "/p/1.png")),
            ({"absent": True}, ("absent", "", "")),
            ({"absent": False, "text": "Runner"}, ("value", "/html/body/h1/text()[1]", "Runner")),
            (
                {"text": "Runner", "comment": "unknown keys are ignored"},
                ("value", "/html/body/h1/text()[1]", "Runner"),
            ),
            (
                {"text": "Runner", "xpath": None, "record": None},
                ("value", "/html/body/h1/text()[1]", "Runner"),
            ),
        ],
    )
    def test_takes_each_form(
        self,
        site: Site,
        page: Page,
        file: Path,
        more: dict[str, Any],
        expected: tuple[str, str, str],
    ) -> None:
        assert [] == run(site, file, line(**more))
        assert [expected] == said(page, "name")

    def test_a_value_may_be_only_here(self, site: Site, page: Page, file: Path) -> None:
        run(site, file, line(xpath="/html/body/h1", only_here=True))
        assert Annotation.objects.live().get(page=page).is_only_here
        run(site, file, line(xpath="/html/body/h1"))
        assert not Annotation.objects.live().get(page=page).is_only_here
        ((_, problem),) = run(site, file, line(xpath="/html/body/h1", only_here="yes"))
        assert "only_here" in problem

    def test_several_lines_are_several_values(self, site: Site, page: Page, file: Path) -> None:
        run(
            site,
            file,
            line("colour", text="red"),
            line("name", text="Runner"),
            line("colour", text="blue"),
        )

        assert ["red", "blue"] == [text for _, _, text in said(page, "colour")]

    def test_the_same_line_twice_is_one_value(self, site: Site, page: Page, file: Path) -> None:
        run(site, file, line("colour", text="red"), line("colour", text="red"))

        assert 1 == len(said(page, "colour"))

    def test_a_value_may_run_over_nodes(self, site: Site, page: Page, file: Path) -> None:
        run(site, file, line(xpath="//li[1]", end_xpath="//li[2]"))

        assert [("value", "/html/body/ul/li[1]", "red blue")] == said(page, "name")

    def test_a_second_file_replaces_the_same_attributes(
        self, site: Site, page: Page, file: Path
    ) -> None:
        run(
            site, file, line("colour", text="red"), line("colour", text="blue"), line(text="Runner")
        )
        run(site, file, line("colour", text="blue"))

        assert ["blue"] == [text for _, _, text in said(page, "colour")]
        assert 1 == len(said(page, "name"))

    def test_the_same_file_again_changes_nothing(self, site: Site, page: Page, file: Path) -> None:
        for _ in range(2):
            run(
                site,
                file,
                line("colour", text="red"),
                line(absent=True),
                {"url": URL, "record": ["//ul"]},
            )

        assert 3 == Annotation.objects.count()

    def test_a_new_snapshot_is_annotated_anew(self, site: Site, page: Page, file: Path) -> None:
        run(site, file, line(text="Runner"))
        old = page.latest_snapshot
        assert old is not None
        page.latest_snapshot = Snapshot.objects.create(
            page=page, body=old.body, n_bytes=1, fetched_at=old.fetched_at, seen_at=old.seen_at
        )
        page.save()
        run(site, file, line(text="Runner"))

        assert page.latest_snapshot == Annotation.objects.live().get().snapshot
        assert old == Annotation.objects.get(revision=1).snapshot

    def test_an_address_is_taken_as_it_is_written(self, site: Site, page: Page, file: Path) -> None:
        assert [] == run(
            site, file, line(text="Runner") | {"url": "HTTPS://Shop.example:443/p/1#top"}
        )

    def test_the_cluster_s_own_vertical_comes_first(
        self, site: Site, page: Page, file: Path
    ) -> None:
        forum = save_vertical(
            name="forum", attributes=[AttributeType("topic"), AttributeType("name")], actor=None
        )
        cluster = cluster_of(site, "thread", [page])
        assign_vertical(site=site, cluster=cluster, vertical=forum, actor=None)
        run(
            site,
            file,
            line("topic", text="red"),
            line("name", text="Runner"),
            line("price", text="25 EUR"),
        )

        assert {"topic": "forum", "name": "forum", "price": "product"} == {
            row.attribute.name: row.attribute.vertical.name
            for row in Annotation.objects.all()
            if row.attribute
        }


class TestRecords:
    MORE = "<div><p>a <b>1</b></p><p>x</p><p>b <b>2</b></p><p>y</p></div>"
    FIRST, SECOND = ["//div/p[1]", "//div/p[2]"], ["//div/p[3]", "//div/p[4]"]

    @pytest.fixture
    def listing(self, site: Site) -> Page:
        return product_page(site, "p/1", more=self.MORE)

    def test_a_boundary_is_a_run_of_siblings(self, site: Site, listing: Page, file: Path) -> None:
        assert [] == run(
            site, file, *({"url": URL, "record": each} for each in (self.FIRST, self.SECOND))
        )
        assert [
            ["/html/body/div/p[1]", "/html/body/div/p[2]"],
            ["/html/body/div/p[3]", "/html/body/div/p[4]"],
        ] == [row.record for row in Annotation.objects.filter(kind="record").order_by("position")]

    def test_a_value_belongs_to_its_record(self, site: Site, listing: Page, file: Path) -> None:
        values = [
            line(xpath=f"{self.FIRST[0]}/b", record=self.FIRST),
            line(absent=True, record=self.SECOND),
        ]

        assert [] == run(site, file, *values)
        assert [("value", "/html/body/div/p[1]/b", "1"), ("absent", "", "")] == said(
            listing, "name"
        )

    @pytest.mark.parametrize(
        ("entry", "problem"),
        [
            ({"url": URL, "record": ["//div/p[1]", "//div/p[3]"]}, "no adjacent siblings"),
            ({"url": URL, "record": ["//div/p[2]", "//div/p[1]"]}, "no adjacent siblings"),
            ({"url": URL, "record": []}, "a list of 1 to 1,000 XPaths"),
            ({"url": URL, "record": "//div"}, "a list of 1 to 1,000 XPaths"),
            ({"url": URL, "record": ["//div/p[9]"]}, "no node at"),
            ({"url": URL, "record": ["//div/p[1]/text()"]}, "is no element"),
            (line(xpath="//h1", record=["//div/p[1]"]), "is not in the record"),
        ],
    )
    def test_says_what_is_wrong(
        self, site: Site, listing: Page, file: Path, entry: dict[str, Any], problem: str
    ) -> None:
        assert problem in run(site, file, entry)[0][1]


class TestRefusing:
    @pytest.mark.parametrize(
        ("entry", "problem"),
        [
            (b"{", "not JSON"),
            (b"[]", "not a JSON object"),
            ({"attribute": "name", "text": "x"}, '"url" is missing'),
            ({"url": 7}, '"url" is 7, but must be a text'),
            ({"url": "ftp://x/", "attribute": "name", "text": "x"}, "ftp"),
            ({"url": URL}, '"attribute" is missing'),
            (line(), 'none of "xpath", "text" and "absent"'),
            (line(text="\u00a0 "), "none of"),
            (line(absent="yes"), "must be true or false"),
            (line(absent=True, text="x"), "leave one of them out"),
            (line(text=5), "must be a text"),
            (line(xpath="count(//b)"), "cannot be used"),
            (line(xpath="//*[re:test(., '(a+)+')]"), "cannot be used"),
            (line(xpath="/html/body/h2"), "no node at /html/body/h2"),
            (line(xpath="//li"), "selects 2 nodes"),
            (line(xpath="//h1", text="Walker"), "shows 'Runner', not 'Walker'"),
            (line(xpath="//img"), "does an attribute hold the value (@src)"),
            (line(text="Walker"), "no node shows 'Walker'"),
            (
                line("size", text="Runner"),
                "no attribute of that name in product (there are name, price",
            ),
            (
                line(text="Runner") | {"url": "https://shop.example/p/2"},
                "has no page of this address",
            ),
        ],
    )
    def test_says_what_is_wrong_with_a_line_and_takes_the_others(
        self, site: Site, page: Page, file: Path, entry: Any, problem: str
    ) -> None:
        output = run(site, file, entry, line("price", text="25 EUR"))

        assert ["annotations.jsonl:1"] == [place for place, _ in output]
        assert problem in output[0][1]
        assert 1 == len(said(page, "price"))
        assert output[0][1][:500] == Refusal.objects.get().reason

    def test_an_ambiguous_text_lists_the_candidates(self, site: Site, file: Path) -> None:
        product_page(site, "p/1", more="<i>Runner</i>")
        ((_, reason),) = run(site, file, line(text="Runner"))

        assert "2 nodes show 'Runner'" in reason
        assert "/html/body/h1/text()[1], /html/body/i/text()[1]" in reason

    def test_a_contradiction_names_the_line_before(
        self, site: Site, page: Page, file: Path
    ) -> None:
        output = run(site, file, line(text="Runner"), line(absent=True))

        assert [
            ("annotations.jsonl:2", f"{URL}, name: it contradicts line 1, which gives a value")
        ] == output
        assert 1 == len(said(page, "name"))

    def test_bad_lines_leave_what_was_said(self, site: Site, page: Page, file: Path) -> None:
        run(site, file, line(text="Runner"))
        run(site, file, line(text="Walker"))

        assert 1 == len(said(page, "name"))

    @pytest.mark.parametrize("problem", [Snapshot.Problem.TRUNCATED, Snapshot.Problem.EMPTY])
    def test_a_snapshot_that_is_not_whole_cannot_be_annotated(
        self, site: Site, page: Page, file: Path, problem: str
    ) -> None:
        Snapshot.objects.update(problem=problem)

        assert f"its snapshot is {problem}" in run(site, file, line(text="Runner"))[0][1]

    def test_a_site_without_vertical_says_so(self, site: Site, page: Page, file: Path) -> None:
        assign_vertical(site=site, vertical=None, actor=None)

        assert "shop has no vertical" in run(site, file, line(text="Runner"))[0][1]


class TestCommands:
    def test_bad_lines_make_the_status_1(self, site: Site, page: Page, file: Path) -> None:
        file.write_bytes(orjson.dumps(line(text="Runner")) + b"\n{\n")

        assert "1 bad line(s)" in fail("import_annotations", "shop", file)
        assert 1 == len(said(page, "name"))

    def test_reads_compressed_files(self, site: Site, page: Page, tmp_path: Path) -> None:
        packed = tmp_path / "annotations.jsonl.gz"
        packed.write_bytes(gzip.compress(orjson.dumps(line(text="Runner"))))
        _, result = call("import_annotations", "shop", packed)

        assert "1 annotations on 1 pages" in result
        assert AuditEntry.objects.filter(action="annotations.imported", site=site).exists()

    def test_a_missing_file_is_an_error(self, site: Site) -> None:
        assert "no such file" in fail("import_annotations", "shop", "/nowhere.jsonl")

    def test_what_goes_out_as_lines_comes_in_again(
        self, site: Site, page: Page, file: Path
    ) -> None:
        entries = [
            line("colour", text="red", xpath="/html/body/ul/li[1]"),
            line("colour", text="blue", xpath="/html/body/ul/li[2]"),
            line("name", absent=True),
            line("price", text="25", xpath="/html/body/p"),
            line(
                "image",
                text="red blue",
                xpath="/html/body/ul/li[1]",
                end_xpath="/html/body/ul/li[2]",
            ),
            {"url": URL, "record": ["/html/body/ul"]},
        ]
        run(site, file, *entries)
        lines, _ = call("export_annotations", "shop", "--format", "lines")
        assert [] == [entry for entry in entries if entry not in lines]
        assert [] == run(site, file, *lines)
        assert 6 == Annotation.objects.count()

    def test_web_annotations_have_all_anchors_as_selectors(
        self, site: Site, page: Page, file: Path
    ) -> None:
        run(site, file, line("price", text="25", xpath="//p"))
        ((result,), _) = call("export_annotations", "shop")

        assert ("http://www.w3.org/ns/anno.jsonld", "Annotation") == (
            result["@context"],
            result["type"],
        )
        assert "product:price" == result["body"][0]["value"]
        assert URL == result["target"]["source"]
        xpath, quote, position = result["target"]["selector"]
        assert ("XPathSelector", "/html/body/p") == (xpath["type"], xpath["value"])
        assert {"type": "TextPositionSelector", "start": 7, "end": 9} == xpath["refinedBy"]
        assert ("TextQuoteSelector", "25", "Runner Price: ") == (
            quote["type"],
            quote["exact"],
            quote["prefix"],
        )
        assert ("TextPositionSelector", 14, 16) == (
            position["type"],
            position["start"],
            position["end"],
        )

    def test_of_one_cluster_only_its_pages_go_out(self, site: Site, page: Page, file: Path) -> None:
        other = product_page(site, "p/2", name="Walker")
        cluster_of(site, "walkers", [other])
        run(site, file, line(text="Runner"), line(text="Walker") | {"url": other.url})

        assert [other.url] == [
            each["url"]
            for each in call(
                "export_annotations", "shop", "--cluster", "walkers", "--format", "lines"
            )[0]
        ]
        assert "has no cluster 'nope'" in fail("export_annotations", "shop", "--cluster", "nope")


def test_all_annotations_of_a_demo_site_come_in_and_go_out(file: Path, tmp_path: Path) -> None:
    demo = sites.load("tinker-board", "1")
    manifest = demo.write(tmp_path)
    demo.write_truth(tmp_path)
    remaining = set(manifest.read_bytes().splitlines()[:40])
    manifest.write_bytes(b"\n".join(sorted(remaining)))
    urls = {orjson.loads(entry)["url"] for entry in remaining}
    wanted = [
        entry
        for entry in map(orjson.loads, (tmp_path / "annotations.jsonl").read_bytes().splitlines())
        if entry["url"] in urls
    ]
    call("load_vertical", tmp_path / "vertical.json")
    call("add_site", "tinker", "--url", demo.default_url, "--vertical", demo.vertical["name"])
    call("import_pages", "tinker", manifest)
    output = run(Site.objects.get(name="tinker"), file, *wanted)
    lines, _ = call("export_annotations", "tinker", "--format", "lines")

    assert ([], len(wanted)) == (output, len(lines))
    assert len(wanted) > 20
    assert [] == [entry for entry in wanted if entry not in lines]
