"""Pages are imported from files: what is stored, what is refused, what a crash leaves behind."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.utils import timezone

from clustering.dom.addresses import BadAddress
from clustering.models import Link, Page, Snapshot
from clustering.services.pages import importing, pages
from clustering.services.pages.importing import ImportedLine, import_pages, import_request
from vertex.core.models import AuditEntry, Job, Refusal, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import UnreadableFile
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import DiskFull, page_store

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ROOT = "http://shop.example/"


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url=ROOT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.mkdir()
    return path


def body(number: int, edition: str = "") -> bytes:
    return f"<html><a href='/p/{number + 1}'>next</a><p>page {number} {edition}</html>".encode()


def manifest(folder: Path, lines: Sequence[object]) -> Path:
    path = folder / "pages.jsonl"
    texts = [line if isinstance(line, bytes) else orjson.dumps(line) for line in lines]
    path.write_bytes(b"\n".join(texts))
    return path


def many(folder: Path, n_pages: int, edition: str = "") -> Path:
    """Write a manifest of that many pages."""
    for number in range(n_pages):
        (folder / f"{number}.html").write_bytes(body(number, edition))
    return manifest(folder, [{"url": f"{ROOT}p/{n}", "file": f"{n}.html"} for n in range(n_pages)])


def run(site: Site, source: Path, **options: Any) -> tuple[Job, list[ImportedLine]]:
    results: list[ImportedLine] = []
    job = create_here(import_request(site=site, source=source, **options))
    job = run_job(job.pk, import_pages, report=results.append)
    return job, results


def words(lines: list[ImportedLine]) -> list[str]:
    return [line.snapshot for line in lines]


def stored(site: Site) -> list[tuple[str, list[str]]]:
    """Return what a site has: each page's address with the bodies of its snapshots."""
    return [
        (page.url, [snapshot.body for snapshot in page.snapshots.order_by("pk")])
        for page in Page.objects.filter(site=site).order_by("url")
    ]


class TestImport:
    def test_stores_pages_with_their_bytes_and_links(self, shop: Site, folder: Path) -> None:
        job, result = run(shop, many(folder, 3))
        assert Job.State.DONE == job.state
        assert {"new": 3} == job.result
        assert [
            ImportedLine(f"pages.jsonl:{n + 1}", f"{ROOT}p/{n}", "new") for n in range(3)
        ] == result
        page = Page.objects.get(site=shop, url=f"{ROOT}p/1")
        assert page.latest_snapshot is not None
        assert body(1) == page_store().read(page.latest_snapshot.body)
        assert [f"{ROOT}p/2"] == list(page.links.values_list("url", flat=True))
        shop.refresh_from_db()
        assert 3 == shop.n_pages

    def test_stores_what_the_manifest_tells(self, shop: Site, folder: Path) -> None:
        (folder / "1.html").write_bytes(b"<p>caf\xe9")
        line = {
            "url": f"{ROOT}gone",
            "file": "1.html",
            "status": 410,
            "fetched_at": "2024-05-01T12:00:00Z",
            "content_type": "text/html; charset=latin1",
        }
        run(shop, manifest(folder, [line]))
        snapshot = Snapshot.objects.get()
        assert (410, datetime(2024, 5, 1, 12, tzinfo=UTC)) == (snapshot.status, snapshot.fetched_at)
        assert ("text/html; charset=latin1", "windows-1252") == (
            snapshot.content_type,
            snapshot.encoding.lower(),
        )

    def test_a_page_whose_bytes_are_known_is_unchanged(self, shop: Site, folder: Path) -> None:
        source = many(folder, 2)
        run(shop, source)
        (folder / "1.html").write_bytes(body(1, "changed"))
        job, result = run(shop, source)
        assert ["unchanged", "new"] == words(result)
        assert {"new": 1, "unchanged": 1} == job.result
        assert [1, 2] == [len(bodies) for _, bodies in stored(shop)]

    def test_a_later_line_of_the_same_page_is_its_newer_snapshot(
        self, shop: Site, folder: Path
    ) -> None:
        for name in ("a", "b"):
            (folder / name).write_bytes(f"<p>{name}".encode())
        line = {"url": f"{ROOT}p", "file": "a"}
        _, result = run(shop, manifest(folder, [line, line | {"file": "b"}, line | {"file": "b"}]))
        assert ["new", "new", "unchanged"] == words(result)
        latest = Page.objects.get().latest_snapshot
        assert latest is not None
        assert b"<p>b" == page_store().read(latest.body)

    def test_pages_of_another_host_are_the_sites_too(self, shop: Site, folder: Path) -> None:
        (folder / "a").write_bytes(b"<p>a")
        run(shop, manifest(folder, [{"url": "https://other.example/x", "file": "a"}]))
        assert ["https://other.example/x"] == [url for url, _ in stored(shop)]

    def test_a_folder_without_manifest_stands_at_the_root_or_the_base(
        self, shop: Site, folder: Path
    ) -> None:
        (folder / "c").mkdir()
        (folder / "c" / "1.html").write_bytes(body(1))
        run(shop, folder)
        run(shop, folder, base_url="https://www.shop.example/de")
        expected = ["http://shop.example/c/1.html", "https://www.shop.example/de/c/1.html"]
        assert expected == [url for url, _ in stored(shop)]

    def test_what_cannot_be_taken_is_a_row_and_the_rest_is_taken(
        self, shop: Site, folder: Path
    ) -> None:
        (folder / "1.html").write_bytes(body(1))
        good = {"url": f"{ROOT}p/1", "file": "1.html"}
        lines = [
            good,
            b"not JSON",
            good | {"file": "missing.html"},
            good | {"url": "ftp://shop.example/p/1"},
            good | {"url": "http://shop.example/\0"},
            good | {"url": f"{ROOT}p/2"},
        ]
        job, result = run(shop, manifest(folder, lines))
        assert ["new", "failed", "failed", "failed", "failed", "new"] == words(result)
        assert {"new": 2, "failed": 4} == job.result
        expected = [
            ("pages.jsonl:2", "bad_line"),
            (f"pages.jsonl:3 {ROOT}p/1", "missing_file"),
            ("pages.jsonl:4 ftp://shop.example/p/1", "bad_address"),
            ("pages.jsonl:5 http://shop.example/\N{REPLACEMENT CHARACTER}", "bad_address"),
        ]
        assert expected == list(
            Refusal.objects.filter(job=job, site=shop).values_list("subject", "code").order_by("pk")
        )

    def test_a_page_that_cannot_be_parsed_is_told_and_the_rest_is_taken(
        self, shop: Site, folder: Path
    ) -> None:
        source = many(folder, 3)
        (folder / "1.html").write_bytes(b"<p " + b" ".join(b"a%d" % n for n in range(2000)) + b">")
        _, result = run(shop, source)
        assert ["new", "failed", "new"] == words(result)
        assert ["too_many_attributes"] == list(Refusal.objects.values_list("code", flat=True))

    def test_a_source_without_a_page_fails_and_says_what_it_held(
        self, shop: Site, folder: Path
    ) -> None:
        (folder / "style.css").touch()
        job, _ = run(shop, folder)
        assert (Job.State.FAILED, "there is no page in it (1 skipped not html)") == (
            job.state,
            job.error,
        )

    def test_what_is_no_source_fails_with_one_sentence(self, shop: Site, folder: Path) -> None:
        (folder / "x").write_bytes(b"\x89PNG")
        job, _ = run(shop, folder / "x")
        assert Job.State.FAILED == job.state
        assert "neither a manifest, nor a WARC, a zip or a folder of HTML" in job.error

    def test_a_full_disk_ends_the_job_and_a_retry_goes_on(
        self, shop: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(importing, "BATCH_ITEMS", 2)
        source, prepare = many(folder, 5), pages.prepare_visits
        n_batches = 0

        def prepare_until_full(visits: Any) -> Any:
            nonlocal n_batches
            n_batches += 1
            if n_batches == 2:
                raise DiskFull(Path("/"), 0)
            return prepare(visits)

        monkeypatch.setattr(importing, "prepare_visits", prepare_until_full)
        job, _ = run(shop, source)
        assert (Job.State.FAILED, 2) == (job.state, job.n_done)
        assert "make room" in job.error
        jobs.retry_job(job=job, actor=None)
        job = run_job(job.pk, import_pages)
        assert (Job.State.DONE, {"new": 5}) == (job.state, job.result)


class TestRequest:
    def test_is_audited_and_unique(self, shop: Site, folder: Path) -> None:
        source = many(folder, 1)
        job = create_here(import_request(site=shop, source=source))
        assert ("import.requested", "pages.jsonl") == AuditEntry.objects.values_list(
            "action", "subject"
        ).get()
        with pytest.raises(JobExists):
            create_here(import_request(site=shop, source=source))
        other = create_here(
            import_request(site=shop, source=source, base_url="http://other.example/")
        )
        assert job.pk != other.pk

    def test_tells_what_cannot_be(self, shop: Site, folder: Path) -> None:
        with pytest.raises(UnreadableFile, match="no such file or directory"):
            create_here(import_request(site=shop, source=folder / "missing"))
        with pytest.raises(BadAddress):
            create_here(import_request(site=shop, source=folder, base_url="nonsense"))
        assert not Job.objects.exists()

    def test_takes_a_file_of_any_name_that_a_row_can_hold(self, shop: Site, folder: Path) -> None:
        source = folder / "caf\u00e9 \n'.zip"
        source.write_bytes(b"x")
        job, _ = run(shop, source)
        assert (Job.State.FAILED, True) == (job.state, "caf\u00e9" in job.title)
        with pytest.raises(UnreadableFile, match="its name is not UTF-8; rename it"):
            create_here(import_request(site=shop, source=folder / "caf\udce9.zip"))


class TestInterrupted:
    """An import that ends in the middle goes on behind its last batch."""

    @pytest.fixture(autouse=True)
    def small_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importing, "BATCH_ITEMS", 3)

    def lines(self, folder: Path) -> Path:
        """Write a source with all that an import counts."""
        source = many(folder, 10)
        texts: list[object] = list(source.read_bytes().splitlines())
        texts[2:2] = [b"bad"]
        texts[6:6] = [b"worse", orjson.dumps({"url": f"{ROOT}p/1", "file": "2.html"})]
        return manifest(folder, texts)

    @pytest.mark.parametrize("where", ["prepare_visits", "store_visits"])
    @pytest.mark.parametrize("n_batches", [1, 2, 4])
    @pytest.mark.django_db(transaction=True)
    def test_ends_like_one_that_was_left_alone(
        self, shop: Site, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str, n_batches: int
    ) -> None:
        source = self.lines(folder)
        calm = Site.objects.create(name="calm", root_url=ROOT)
        expected, expected_lines = run(calm, source)

        job = create_here(import_request(site=shop, source=source))
        with monkeypatch.context() as patch:
            patch.setattr(importing, where, crash_after(n_batches, getattr(importing, where)))
            with pytest.raises(Crash):
                run_job(job.pk, import_pages)
        job.refresh_from_db()
        assert (Job.State.RUNNING, (n_batches - 1) * 3) == (job.state, job.n_done)
        forget_worker(job)

        results: list[ImportedLine] = []
        job = run_job(job.pk, import_pages, report=results.append)
        assert (Job.State.DONE, expected.result) == (job.state, job.result)
        assert stored(calm) == stored(shop)
        assert refused(expected) == refused(job)
        assert [line.url for line in expected_lines] == [line.url for line in results]
        assert (
            10
            == Link.objects.filter(page__site=shop).count()
            == Link.objects.filter(page__site=calm).count()
        )

    @pytest.mark.django_db(transaction=True)
    def test_begins_anew_where_the_source_has_changed(
        self, shop: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = self.lines(folder)
        job = create_here(import_request(site=shop, source=source))
        with monkeypatch.context() as patch:
            patch.setattr(importing, "store_visits", crash_after(3, pages.store_visits))
            with pytest.raises(Crash):
                run_job(job.pk, import_pages)
        many(folder, 4)
        forget_worker(job)
        results: list[ImportedLine] = []
        job = run_job(job.pk, import_pages, report=results.append)
        assert ["unchanged"] * 4 == words(results)
        assert ({"unchanged": 4}, 4) == (job.result, job.n_done)
        assert [] == refused(job)

    def test_stops_between_batches_when_asked_to(self, shop: Site, folder: Path) -> None:
        job = create_here(import_request(site=shop, source=many(folder, 10)))

        def cancel(line: ImportedLine) -> None:
            Job.objects.filter(pk=job.pk).update(cancel_requested_at=timezone.now())

        job = run_job(job.pk, import_pages, report=cancel)
        assert (Job.State.CANCELLED, 3) == (job.state, Page.objects.count())

    def test_writes_nothing_once_another_worker_has_the_job(self, shop: Site, folder: Path) -> None:
        job = create_here(import_request(site=shop, source=many(folder, 10)))

        def lose(line: ImportedLine) -> None:
            Job.objects.filter(pk=job.pk).update(lease="another")

        run_job(job.pk, import_pages, report=lose)
        job.refresh_from_db()
        assert (Job.State.RUNNING, "another", 3) == (job.state, job.lease, Page.objects.count())


class TestUploads:
    @pytest.fixture
    def upload(self, folder: Path) -> Path:
        (folder / "0.html").write_bytes(body(0))
        text = orjson.dumps({"url": ROOT, "file": "0.html"})
        return uploads.keep_upload(chunks=[text[:5], text[5:]], name="../../p\u00e4ges.jsonl")

    def test_are_kept_under_a_harmless_name(self, upload: Path, settings: Any) -> None:
        assert settings.UPLOAD_DIR == upload.parent.parent
        assert "p_ges.jsonl" == upload.name

    def test_go_when_the_job_is_done(self, shop: Site, upload: Path, folder: Path) -> None:
        job, _ = run(shop, upload, folder=folder)
        assert (Job.State.DONE, False) == (job.state, upload.parent.exists())

    def test_stay_while_the_job_can_be_retried(self, shop: Site) -> None:
        upload = uploads.keep_upload(chunks=[b"nonsense"], name="pages.zip")
        job, _ = run(shop, upload)
        assert (Job.State.FAILED, True) == (job.state, upload.exists())

    def test_that_went_before_the_job_was_done_fail_nothing(
        self, shop: Site, upload: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = create_here(import_request(site=shop, source=upload, folder=folder))
        with monkeypatch.context() as patch:
            patch.setattr(uploads, "drop_upload", crash_after(1, uploads.drop_upload, after=True))
            with pytest.raises(Crash):
                run_job(job.pk, import_pages)
        assert not upload.exists()
        forget_worker(job)
        job = run_job(job.pk, import_pages)
        assert (Job.State.DONE, {"new": 1}) == (job.state, job.result)

    def test_too_large_leave_nothing(self, settings: Any) -> None:
        settings.MAX_UPLOAD_MB = 1
        with pytest.raises(uploads.UploadTooLarge):
            uploads.keep_upload(chunks=[b"x" * 600_000] * 2, name="x")
        assert [] == list(settings.UPLOAD_DIR.iterdir())

    def test_nothing_but_an_upload_is_ever_dropped(
        self, upload: Path, settings: Any, tmp_path: Path
    ) -> None:
        settings.UPLOAD_DIR.joinpath("mine").mkdir()
        outside = tmp_path / "pages.zip"
        own = [
            outside,
            settings.UPLOAD_DIR / "mine" / "pages.zip",
            settings.UPLOAD_DIR / "pages.zip",
        ]
        for path in own:
            path.write_bytes(b"PK")
        climbing = upload.parent / ".." / ".." / "x"

        for path in (*own, settings.UPLOAD_DIR, upload.parent, climbing):
            uploads.drop_upload(path)

        assert all(path.exists() for path in (*own, upload))
        uploads.drop_upload(upload)
        assert not upload.parent.exists()

    def test_that_no_job_needs_are_swept(self, shop: Site, upload: Path, settings: Any) -> None:
        later = timezone.now() + timedelta(days=2)
        job = create_here(import_request(site=shop, source=upload))
        assert 0 == uploads.sweep_uploads(now=later)
        Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED, finished_at=later)
        assert 0 == uploads.sweep_uploads(now=later + timedelta(days=29))
        assert upload.exists()
        assert 1 == uploads.sweep_uploads(now=later + timedelta(days=31))
        assert not upload.exists()

    def test_are_not_swept_before_their_job_can_be_made(self, upload: Path) -> None:
        assert 0 == uploads.sweep_uploads(now=timezone.now())
        assert 1 == uploads.sweep_uploads(now=timezone.now() + timedelta(days=2))

    def test_nothing_else_is_ever_removed(self, shop: Site, folder: Path) -> None:
        source = many(folder, 1)
        run(shop, source)
        uploads.drop_upload(source)
        assert source.exists()


def crash_after(
    n_calls: int, function: Callable[..., Any], *, after: bool = False
) -> Callable[..., Any]:
    """Let the process end at the n-th call, before or after it did its work."""
    n_called = 0

    def crashing(*args: Any, **named: Any) -> Any:
        nonlocal n_called
        n_called += 1
        if n_called < n_calls:
            return function(*args, **named)
        if after:
            function(*args, **named)
        raise Crash

    return crashing


def forget_worker(job: Job) -> None:
    """Let the lease run out, as it does when the process that held it is gone."""
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def refused(job: Job) -> list[tuple[str, str]]:
    return list(Refusal.objects.filter(job=job).values_list("subject", "reason").order_by("pk"))
