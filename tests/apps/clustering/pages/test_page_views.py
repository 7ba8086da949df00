"""Pages in the browser: found, shown, compared, and brought in."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.models import Link, Page, Snapshot
from clustering.services.pages.importing import import_pages
from clustering.views.pages.snapshots import COMPARED_LINES, LINES_AT_ONCE, PART, cut, difference
from vertex.core.models import Job, Membership, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db
ROOT = "https://alpine.example/"
HOSTILE = (
    b"<script>alert(1)</script><img src=x onerror=alert(2)>\n</code></div><h1>broken out</h1>\n"
)


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="alpine-shop", root_url=ROOT)


@pytest.fixture
def viewer() -> Client:
    return browser(Role.VIEWER)


@pytest.fixture
def operator() -> Client:
    return browser(Role.OPERATOR)


def browser(role: Role) -> Client:
    user = User.objects.create_user(role)
    Membership.objects.create(user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def page_of(site: Site, path: str = "", **fields: Any) -> Page:
    url = f"{ROOT}{path}"
    fields.setdefault("state", "stored")
    return Page.objects.create(site=site, url=url, given_url=url, url_hash=url_hash(url), **fields)


def snapshot_of(page: Page, body: bytes, **fields: Any) -> Snapshot:
    now = timezone.now()
    snapshot = Snapshot.objects.create(
        page=page,
        body=page_store().put(body),
        n_bytes=len(body),
        encoding=fields.pop("encoding", "utf-8"),
        requested_url=page.url,
        final_url=page.url,
        fetched_at=now,
        seen_at=now,
        **fields,
    )
    Page.objects.filter(pk=page.pk).update(latest_snapshot=snapshot)
    return snapshot


def address(view: str, page: Page, *more: int) -> str:
    return reverse(view, args=[page.site.name, page.pk, *more])


def listed(client: Client, **query: str) -> list[str]:
    answer = client.get(reverse("pages", args=["alpine-shop"]), query)
    assert 200 == answer.status_code
    return [row.url.removeprefix(ROOT) for row in answer.context["page"].rows]


class TestList:
    def test_the_newest_page_comes_first(self, viewer: Client, shop: Site) -> None:
        page_of(shop, "a"), page_of(shop, "b")
        assert ["b", "a"] == listed(viewer)

    @pytest.mark.both_databases
    def test_it_is_searched_by_parts_of_the_address(self, viewer: Client, shop: Site) -> None:
        page_of(shop, "p/shoes"), page_of(shop, "p/hats"), page_of(shop, "c/shoes")
        assert ["p/shoes"] == listed(viewer, q="/P/ shoe")

    @pytest.mark.both_databases
    @pytest.mark.parametrize("search", ["%", "_", "\\", "'", "\0x"])
    def test_signs_of_the_database_are_searched_as_they_are(
        self, viewer: Client, shop: Site, search: str
    ) -> None:
        page_of(shop, "plain")
        assert [] == listed(viewer, q=search) or search == "\0x"

    def test_it_is_narrowed_by_state_and_status(self, viewer: Client, shop: Site) -> None:
        page_of(shop, "ok", status=200), page_of(shop, "gone", state="failed", status=404)
        page_of(shop, "down", state="failed", status=503)
        assert ["down", "gone"] == listed(viewer, state="failed")
        assert ["gone"] == listed(viewer, state="failed", status="4")
        assert ["down", "gone", "ok"] == listed(viewer, state="nonsense", status="9")

    def test_it_is_narrowed_by_problem(self, viewer: Client, shop: Site) -> None:
        snapshot_of(page_of(shop, "fine"), b"<p>fine")
        snapshot_of(page_of(shop, "cut"), b"<p>cut", problem="truncated")
        snapshot_of(page_of(shop, "blank"), b"", problem="empty")
        page_of(shop, "unknown")
        assert ["blank", "cut"] == listed(viewer, problem="any")
        assert ["cut"] == listed(viewer, problem="truncated")

    def test_no_page_yet_says_how_they_come(self, operator: Client, shop: Site) -> None:
        answer = operator.get(reverse("pages", args=["alpine-shop"])).content.decode()
        assert "No pages yet" in answer
        assert reverse("import_pages", args=["alpine-shop"]) in answer

    def test_kept_lists_are_a_click_away_for_those_who_may_keep_them(
        self, operator: Client, viewer: Client, shop: Site
    ) -> None:
        pages, lists = (reverse(name, args=["alpine-shop"]) for name in ("pages", "kept_lists"))
        assert lists in operator.get(pages).text
        assert lists not in viewer.get(pages).text

    def test_states_are_counted_with_their_share(self, viewer: Client, shop: Site) -> None:
        page_of(shop, "a"), page_of(shop, "b"), page_of(shop, "c", state="failed")
        Site.objects.update(n_pages=3)
        answer = viewer.get(reverse("page_states", args=["alpine-shop"])).content.decode()
        assert "66.7 % of 3" in answer
        assert "33.3 % of 3" in answer


class TestPage:
    def test_its_links_lead_to_the_pages_of_the_site(self, viewer: Client, shop: Site) -> None:
        home, shoes = page_of(shop), page_of(shop, "shoes")
        Link.objects.create(
            page=home,
            position=0,
            xpath="/html/body/a[1]",
            url=shoes.url,
            url_hash=shoes.url_hash,
            text="<b>Shoes",
        )
        out = viewer.get(address("page", home)).content.decode()
        assert address("page", shoes) in out
        assert "/html/body/a[1]" in out
        assert "&lt;b&gt;Shoes" in out
        assert address("page", home) in viewer.get(address("page", shoes)).content.decode()

    def test_links_from_another_site_are_not_shown(self, viewer: Client, shop: Site) -> None:
        shoes = page_of(shop, "shoes")
        other = Site.objects.create(name="other", root_url="https://other.example/")
        spy = Page.objects.create(
            site=other, url="https://other.example/", given_url="", url_hash=b"x" * 16
        )
        Link.objects.create(
            page=spy, position=0, xpath="/a", url=shoes.url, url_hash=shoes.url_hash
        )
        assert [] == viewer.get(address("page", shoes)).context["into"].rows

    def test_many_links_come_in_parts(self, viewer: Client, shop: Site) -> None:
        home = page_of(shop)
        for n in range(70):
            url = f"{ROOT}{n}"
            Link.objects.create(page=home, position=n, xpath="/a", url=url, url_hash=url_hash(url))
        first = viewer.get(address("page", home)).context["out"]
        second = viewer.get(address("page", home), {"out": first.next}).context["out"]
        assert list(range(70)) == [link.position for link in first.rows + second.rows]

    def test_a_page_of_another_site_is_not_there(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        Site.objects.create(name="other", root_url="https://other.example/")
        assert 404 == viewer.get(reverse("page", args=["other", page.pk])).status_code

    def test_a_number_beyond_the_database_is_not_there(self, viewer: Client, shop: Site) -> None:
        assert 404 == viewer.get(f"/sites/alpine-shop/pages/{10**19}/").status_code

    def test_why_it_is_not_stored_is_said(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop, "cart", state="refused", reason="robots.txt forbids it")
        assert "robots.txt forbids it" in viewer.get(address("page", page)).content.decode()


class TestSource:
    def test_a_page_is_shown_as_text_and_runs_nothing(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        answer = viewer.get(address("snapshot_source", page, snapshot_of(page, HOSTILE).pk))
        text = answer.content.decode()
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "<script>alert" not in text
        assert "<h1>broken out" not in text

    def test_what_cannot_be_seen_is_made_visible(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        snapshot = snapshot_of(page, "a\u202eb\0c".encode())
        text = viewer.get(address("snapshot_source", page, snapshot.pk)).content.decode()
        assert "a⟨U+202E⟩b⟨U+0000⟩c" in text

    def test_an_encoding_that_nobody_knows_is_read_as_well_as_it_goes(
        self, viewer: Client, shop: Site
    ) -> None:
        page = page_of(shop)
        snapshot = snapshot_of(page, "für".encode(), encoding="klingon")
        assert "für" in viewer.get(address("snapshot_source", page, snapshot.pk)).content.decode()

    def test_a_long_source_comes_in_parts_without_a_gap(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        body = "".join(f"line {n}\n" for n in range(LINES_AT_ONCE + 10))
        snapshot = snapshot_of(page, body.encode())
        first = viewer.get(address("snapshot_source", page, snapshot.pk)).context
        second = viewer.get(
            address("snapshot_source", page, snapshot.pk), {"from": first["end"]}
        ).context
        lines = first["lines"] + second["lines"]
        assert [(n + 1, f"line {n}") for n in range(LINES_AT_ONCE + 10)] == [
            (line.number, line.text) for line in lines
        ]
        assert not second["has_more"]

    def test_one_endless_line_is_cut(self) -> None:
        lines, end = cut("x" * (PART + 5), 0)
        assert (1, PART) == (len(lines), end)
        lines, end = cut("x" * (PART + 5), end)
        assert ("xxxxx", PART + 5) == (lines[0].text, end)

    @pytest.mark.parametrize("start", ["-1", "x", "99999999999999999999", "²"])
    def test_a_place_that_is_none_is_the_beginning_or_the_end(
        self, viewer: Client, shop: Site, start: str
    ) -> None:
        page = page_of(shop)
        snapshot = snapshot_of(page, b"<p>")
        assert (
            200
            == viewer.get(
                address("snapshot_source", page, snapshot.pk), {"from": start}
            ).status_code
        )

    def test_bytes_that_are_gone_are_told(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        snapshot = snapshot_of(page, b"<p>")
        page_store().delete(snapshot.body)
        answer = viewer.get(address("snapshot_source", page, snapshot.pk))
        assert 410 == answer.status_code
        assert "cannot be read" in answer.content.decode()

    def test_the_bytes_are_for_saving_only(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        answer = viewer.get(address("snapshot_body", page, snapshot_of(page, HOSTILE).pk))
        assert HOSTILE == answer.content
        assert "application/octet-stream" == answer["Content-Type"]
        assert answer["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer["Content-Security-Policy"]
        assert "nosniff" == answer["X-Content-Type-Options"]


class TestDifference:
    def told(self, before: str, after: str) -> list[str]:
        return [
            f"{line.sign or ' '}{line.text}" for line in difference(before.split(), after.split())
        ]

    def test_a_changed_line_stands_between_its_neighbours(self) -> None:
        assert [" c", " d", " e", "-f", "+F", " g", " h", " i"] == self.told(
            "a b c d e f g h i j", "a b c d e F g h i j"
        )

    def test_equal_texts_differ_in_nothing(self) -> None:
        assert [] == self.told("a b", "a b")

    def test_lines_at_either_end_are_found(self) -> None:
        assert ["+x", " a", " b"] == self.told("a b", "x a b")
        assert [" a", " b", "+x"] == self.told("a b", "a b x")
        assert [" a", "-a"] == self.told("a a", "a")

    def test_changes_far_apart_have_a_gap_between_them(self) -> None:
        middle = " ".join(f"m{n}" for n in range(20))
        assert "…" in self.told(f"a {middle} b", f"A {middle} B")

    def test_texts_that_differ_too_much_are_told_whole(self) -> None:
        n = COMPARED_LINES + 1
        results = list(difference([f"a{i}" for i in range(n)], [f"b{i}" for i in range(n)]))
        assert (n, n) == (
            sum(line.sign == "-" for line in results),
            sum(line.sign == "+" for line in results),
        )

    def test_two_snapshots_are_compared(self, viewer: Client, shop: Site) -> None:
        page = page_of(shop)
        older, newer = snapshot_of(page, b"<p>\n89\n</p>"), snapshot_of(page, b"<p>\n84\n</p>")
        answer = viewer.get(address("compare_snapshots", page, older.pk, newer.pk))
        assert (1, 1) == (answer.context["n_added"], answer.context["n_removed"])
        assert (
            address("compare_snapshots", page, older.pk, newer.pk)
            in viewer.get(address("page", page)).content.decode()
        )


class TestIncoming:
    def hand_in(self, client: Client, *files: tuple[str, bytes], **fields: str) -> Any:
        handed_in = [SimpleUploadedFile(name, content) for name, content in files]
        return client.post(
            reverse("import_pages", args=["alpine-shop"]),
            {"uploads": handed_in, **fields},
            follow=True,
        )

    def imported(self) -> set[str]:
        job = Job.objects.get()
        run_job(job.pk, import_pages)
        job.refresh_from_db()
        assert "" == job.error
        return set(Page.objects.values_list("url", flat=True))

    def zipped(self, **files: bytes) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in files.items():
                archive.writestr(f"{name}.html", content)
        return stream.getvalue()

    def test_a_zip_is_imported_by_a_job(self, operator: Client, shop: Site) -> None:
        answer = self.hand_in(operator, ("pages.zip", self.zipped(a=b"<p>a", b=b"<p>b")))
        assert reverse("job", args=[Job.objects.get().pk]) == answer.redirect_chain[-1][0]
        assert {f"{ROOT}a.html", f"{ROOT}b.html"} == self.imported()

    def test_pages_are_imported_under_the_address_that_is_given(
        self, operator: Client, shop: Site
    ) -> None:
        self.hand_in(
            operator, ("a.html", b"<p>a"), ("b.html", b"<p>b"), base_url="alpine.example/shop/"
        )
        assert {f"{ROOT}shop/a.html", f"{ROOT}shop/b.html"} == self.imported()

    def test_a_manifest_goes_with_its_zip(self, operator: Client, shop: Site) -> None:
        line = json.dumps({"url": f"{ROOT}product/1", "file": "a.html"}).encode()
        self.hand_in(operator, ("manifest.jsonl", line), ("pages.zip", self.zipped(a=b"<p>a")))
        assert {f"{ROOT}product/1"} == self.imported()

    def test_a_manifest_goes_with_pages(self, operator: Client, shop: Site) -> None:
        line = json.dumps({"url": f"{ROOT}product/1", "file": "a.html"}).encode()
        self.hand_in(operator, ("list.jsonl", line), ("a.html", b"<p>a"))
        assert {f"{ROOT}product/1"} == self.imported()

    def test_two_archives_at_once_are_refused_and_nothing_is_kept(
        self, operator: Client, shop: Site, settings: Any
    ) -> None:
        answer = self.hand_in(
            operator, ("a.zip", self.zipped(a=b"")), ("b.zip", self.zipped(b=b""))
        )
        assert 400 == answer.status_code
        assert "one archive at a time" in answer.content.decode()
        assert not Job.objects.exists()
        assert not settings.UPLOAD_DIR.exists() or not list(settings.UPLOAD_DIR.iterdir())

    def test_a_manifest_with_what_is_no_zip_is_refused_and_nothing_is_kept(
        self, operator: Client, shop: Site, settings: Any
    ) -> None:
        answer = self.hand_in(operator, ("manifest.jsonl", b"{}"), ("broken.zip", b"PK broken"))
        assert "is not a zip" in answer.content.decode()
        assert not list(settings.UPLOAD_DIR.iterdir())

    def test_a_file_that_is_too_large_is_refused(
        self, operator: Client, shop: Site, settings: Any
    ) -> None:
        settings.MAX_UPLOAD_MB = 0
        assert "larger than" in self.hand_in(operator, ("a.html", b"x")).content.decode()

    def test_a_full_disk_is_told_in_the_form_and_nothing_is_kept(
        self, operator: Client, shop: Site, settings: Any
    ) -> None:
        settings.MIN_FREE_MB = 2**40
        assert "are kept free" in self.hand_in(operator, ("a.html", b"x")).content.decode()

    def test_no_file_is_told_at_the_field(self, operator: Client, shop: Site) -> None:
        answer = self.hand_in(operator)
        assert answer.context["form"].errors["uploads"]

    def test_a_search_log_is_imported_by_a_job(self, operator: Client, shop: Site) -> None:
        file = SimpleUploadedFile("log.tsv", f"shoes\t{ROOT}\t3\n".encode())
        operator.post(reverse("search_log", args=["alpine-shop"]), {"file": file})
        assert "clustering.import_search_log" == Job.objects.get().task

    def test_a_crawl_is_a_job_with_its_limits(self, operator: Client, shop: Site) -> None:
        entered = {"entry": "", "max_pages": "25", "delay": "0.5"}
        answer = operator.post(reverse("crawl_site", args=["alpine-shop"]), entered)
        job = Job.objects.get()
        assert reverse("job", args=[job.pk]) == answer["Location"]
        assert (ROOT, 25, 0.5) == (
            job.params["entry"],
            job.params["max_pages"],
            job.params["delay"],
        )

    def test_a_crawl_may_visit_only_what_shows_the_kinds_of_pages(
        self, operator: Client, shop: Site
    ) -> None:
        for entered, expected in (
            ({"strategy": "densest_first"}, "densest_first"),
            ({}, "breadth_first"),
        ):
            operator.post(
                reverse("crawl_site", args=["alpine-shop"]), {"max_pages": "25"} | entered
            )
            assert expected == Job.objects.get().params["strategy"]
            Job.objects.all().delete()

    def test_a_second_crawl_leads_to_the_first(self, operator: Client, shop: Site) -> None:
        for _ in range(2):
            answer = operator.post(
                reverse("crawl_site", args=["alpine-shop"]), {"max_pages": "25"}, follow=True
            )
        assert 1 == Job.objects.count()
        assert "already" in answer.content.decode()

    def test_an_entry_outside_of_the_site_is_refused(self, operator: Client, shop: Site) -> None:
        entered = {"entry": "https://other.example/", "max_pages": "25"}
        answer = operator.post(reverse("crawl_site", args=["alpine-shop"]), entered)
        assert 400 == answer.status_code
        assert "does not belong" in answer.content.decode()

    @pytest.mark.parametrize(
        "view", ["crawl_site", "visit_addresses", "import_pages", "search_log"]
    )
    def test_a_viewer_brings_in_nothing(self, viewer: Client, shop: Site, view: str) -> None:
        assert 403 == viewer.post(reverse(view, args=["alpine-shop"])).status_code
