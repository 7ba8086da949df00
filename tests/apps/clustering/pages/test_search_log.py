"""What people searched for before they came to a page."""

import gzip
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from django.utils import timezone

from clustering.models import SearchClick
from clustering.services.pages import search_log
from clustering.services.pages.search_log import (
    LoggedClick,
    import_search_log,
    parse_click,
    search_log_request,
)
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import UnreadableFile
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ROOT = "http://shop.example/"


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url=ROOT)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.tsv"


def run(
    site: Site, log: Path, text: str | bytes | None = None
) -> tuple[Job, list[tuple[str, str]]]:
    if text is not None:
        log.write_bytes(text if isinstance(text, bytes) else text.encode())
    results: list[tuple[str, str]] = []
    job = create_here(search_log_request(site=site, source=log))
    return run_job(job.pk, import_search_log, report=results.append), results


def clicks(site: Site) -> list[tuple[str, str, int]]:
    return list(
        SearchClick.objects.filter(site=site)
        .values_list("query", "url", "clicks")
        .order_by("query", "url")
    )


class TestLine:
    def test_tells_query_address_and_clicks(self) -> None:
        line = b"rote Schuhe \t HTTP://Shop.example:80/p/1;jsessionid=1F#top\t012\r"
        assert LoggedClick("rote Schuhe", f"{ROOT}p/1", 12) == parse_click(line)

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            (b"shoes http://shop.example/ 3", "1 field(s), but query, url and clicks"),
            (b"shoes\thttp://shop.example/", "2 field(s)"),
            (b"shoes\thttp://shop.example/\t3\t4", "4 field(s)"),
            (b" \thttp://shop.example/\t3", "the query is empty"),
            (b"x" * 501 + b"\thttp://shop.example/\t3", "longer than 500 characters"),
            (b"a\0b\thttp://shop.example/\t3", "not printable"),
            (b"caf\xe9\thttp://shop.example/\t3", "not UTF-8"),
            (b"shoes\tshop.example\t3", "not an absolute address"),
            (b"shoes\tftp://shop.example/\t3", "only http and https"),
            (b"shoes\thttp://shop.example/\tmany", "clicks are 'many'"),
            (b"shoes\thttp://shop.example/\t-3", "clicks are '-3'"),
            (b"shoes\thttp://shop.example/\t3.5", "clicks are '3.5'"),
            (b"shoes\thttp://shop.example/\t", "clicks are ''"),
            ("shoes\thttp://shop.example/\t３".encode(), "must be a whole number"),
            (b"shoes\thttp://shop.example/\t" + b"9" * 5000, "must be a whole number"),
        ],
    )
    def test_says_what_is_wrong(self, line: bytes, problem: str) -> None:
        result = parse_click(line)
        assert not isinstance(result, LoggedClick)
        assert problem in result.reason


class TestImport:
    def test_stores_clicks_by_query_and_page(self, shop: Site, log: Path) -> None:
        job, result = run(
            shop, log, f"shoes\t{ROOT}p/1\t3\n\nshoes\t{ROOT}p/2\t1\nboots\t{ROOT}p/1\t0\n"
        )
        assert (Job.State.DONE, {"stored": 3, "refused": 0}, []) == (job.state, job.result, result)
        expected = [
            ("boots", f"{ROOT}p/1", 0),
            ("shoes", f"{ROOT}p/1", 3),
            ("shoes", f"{ROOT}p/2", 1),
        ]
        assert expected == clicks(shop)

    def test_adds_up_what_one_log_says_of_the_same_query_and_page(
        self, shop: Site, log: Path
    ) -> None:
        run(shop, log, f"shoes\t{ROOT}p\t3\nshoes\t{ROOT}p#reviews\t4\n")
        assert [("shoes", f"{ROOT}p", 7)] == clicks(shop)

    def test_replaces_what_an_earlier_log_said_and_keeps_the_rest(
        self, shop: Site, log: Path
    ) -> None:
        run(shop, log, f"shoes\t{ROOT}p\t3\nboots\t{ROOT}p\t1\n")
        run(shop, log)
        run(shop, log, f"shoes\t{ROOT}p\t5\n")
        assert [("boots", f"{ROOT}p", 1), ("shoes", f"{ROOT}p", 5)] == clicks(shop)

    def test_clicks_beyond_what_the_database_counts_stay_at_its_limit(
        self, shop: Site, log: Path
    ) -> None:
        run(shop, log, f"shoes\t{ROOT}p\t2147483647\nshoes\t{ROOT}p\t9999999999\n")
        assert [("shoes", f"{ROOT}p", 2**31 - 1)] == clicks(shop)

    def test_tells_bad_lines_with_their_numbers_and_takes_the_others(
        self, shop: Site, log: Path
    ) -> None:
        job, result = run(
            shop, log, f"query\turl\tclicks\nshoes\t{ROOT}p\t3\nbad\n\nshoes\tnowhere\t1\n"
        )
        assert ["log.tsv:3", "log.tsv:5"] == [place for place, _ in result]
        assert 1 == len(clicks(shop))
        assert {"stored": 1, "refused": 2} == job.result
        assert [("log.tsv:3", "bad_line"), ("log.tsv:5", "bad_line")] == list(
            Refusal.objects.filter(job=job, site=shop).values_list("subject", "code").order_by("pk")
        )

    def test_reads_compressed_logs_and_tells_of_a_cut_off_end(
        self, shop: Site, tmp_path: Path
    ) -> None:
        text = "".join(
            f"query {n * 7919 % 100_003}\t{ROOT}p/{n}\t{n}\n" for n in range(5000)
        ).encode()
        packed = gzip.compress(text)
        run(shop, tmp_path / "log.tsv.gz", packed)
        assert 5000 == SearchClick.objects.count()
        SearchClick.objects.all().delete()
        _, result = run(shop, tmp_path / "log.tsv.gz", packed[: len(packed) // 2])
        assert 1000 < SearchClick.objects.count() < 5000
        assert "damaged or cut short" in result[-1][1]

    def test_goes_on_after_a_crash_without_adding_twice(
        self, shop: Site, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search_log, "BATCH", 2)
        log.write_text("bad\n" + "".join(f"q{n}\t{ROOT}p\t{n}\n" for n in range(7)))
        job = create_here(search_log_request(site=shop, source=log))
        row, n_rows = search_log._row, 0

        def crash_in_the_middle(*given: object) -> SearchClick:
            nonlocal n_rows
            n_rows += 1
            if n_rows == 5:
                raise SystemError
            return row(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(search_log, "_row", crash_in_the_middle)
        run_job(job.pk, import_search_log)
        assert 4 == SearchClick.objects.count()
        Job.objects.update(due_at=timezone.now() - timedelta(seconds=1))
        job = run_job(job.pk, import_search_log)
        assert {"stored": 7, "refused": 1} == job.result
        assert [(f"q{n}", f"{ROOT}p", n) for n in range(7)] == clicks(shop)
        assert 1 == Refusal.objects.count()

    def test_a_log_that_was_uploaded_goes_when_it_is_read(self, shop: Site) -> None:
        upload = uploads.keep_upload(chunks=[f"q\t{ROOT}\t1".encode()], name="log.tsv")
        run(shop, upload)
        assert (False, 1) == (upload.exists(), len(clicks(shop)))

    def test_what_is_no_file_is_told(self, shop: Site, log: Path) -> None:
        with pytest.raises(UnreadableFile, match="no such file"):
            run(shop, log)
        log.mkdir()
        job, _ = run(shop, log)
        assert (Job.State.FAILED, True) == (
            job.state,
            "is a directory" in job.error or "not a regular" in job.error,
        )

    @pytest.mark.bar
    def test_memory_stays_flat_over_a_large_log(self, shop: Site, log: Path) -> None:
        with log.open("w") as stream:
            for n in range(60_000):
                stream.write(
                    f"query number {n} of many that were typed\t{ROOT}products/{n}/details\t{n}\n"
                )
        before = psutil.Process().memory_info().rss
        run(shop, log)
        assert 60_000 == SearchClick.objects.count()
        assert 48 * 2**20 > psutil.Process().memory_info().rss - before
