"""The export of a site is the same site in another installation.

A file that is no export is refused with a reason.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.models import Attribute, Vertical
from clustering.models import Page, Snapshot
from clustering.services.sites import site_export
from clustering.services.sites.sites import SiteExists
from monitoring.algorithms.site_change import ClusterVerdict
from monitoring.models import Schedule
from rules.models import Record, RecordVersion, Rule, Webhook
from tests.apps.clustering.api_cast import caller
from tests.apps.vertex.export_cast import (
    bodies,
    exported,
    history,
    n_pages,
    rows_of,
    shop_with_history,
)
from tests.installation import new_installation
from vertex import site_import
from vertex.celery import app
from vertex.core.models import AuditEntry, Job, Membership, Role, Site, User
from vertex.core.services.files.uploads import KEPT_UNUSED, OWN_FOLDER, sweep_uploads
from vertex.core.services.jobs.jobs import JobNotClaimed, run_job
from vertex.core.services.people import people
from vertex.site_import import IMPORT_SITE, NotAnExport, VerticalDiffers, import_site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
Rows = list[dict[str, Any]]


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Site:
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    return shop_with_history(tmp_path / "sources")


@pytest.fixture
def file(shop: Site, tmp_path: Path) -> Path:
    return exported(shop, tmp_path)


def changed(file: Path, changes: dict[str, bytes | None]) -> Path:
    """Return a copy of an export with other contents of some files; None leaves one out."""
    path = file.with_name("changed.zip")
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(path, "w") as copy:
        for name in archive.namelist():
            if name not in changes:
                copy.writestr(name, archive.read(name))
        for name, content in changes.items():
            if content is not None:
                copy.writestr(name, content)
    return path


def with_rows(file: Path, label: str, change: Callable[[Rows], object]) -> Path:
    """Return a copy of an export in which the rows of a model are changed."""
    rows = rows_of(file, label)
    change(rows)
    return changed(
        file, {f"rows/{label}.jsonl": b"".join(orjson.dumps(row) + b"\n" for row in rows)}
    )


def set_first(name: str, value: Any) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[0][name] = value

    return change


class TestTheSameSite:
    def test_each_kind_of_row_comes_along_or_stays_behind_on_purpose(self) -> None:
        labels = {model._meta.label_lower for model, _ in site_export.models_of_a_site()}

        assert sorted(labels - {"core.site", *site_import.CARRIED}) == [
            "clustering.sitefetching",
            "core.job",
            "core.membership",
            "core.refusal",
            "monitoring.alert",
            "monitoring.channel",
            "monitoring.coverage",
            "monitoring.coveragemark",
            "monitoring.fetchedpage",
            "monitoring.freshnessgoal",
            "monitoring.notice",
            "monitoring.proposal",
            "monitoring.revisit",
            "monitoring.savedplan",
            "monitoring.slot",
            "rules.delivery",
            "rules.fieldprofile",
            "rules.impact",
            "rules.placepicture",
            "rules.webhook",
        ]

    def test_every_row_and_body_is_there_beside_other_sites(
        self, shop: Site, file: Path, tmp_path: Path
    ) -> None:
        import_site(file, name="copy")

        copy = exported(Site.objects.get(name="copy"), tmp_path)
        before, after = history(file), history(copy)
        for label in site_import.CARRIED:
            assert before[label] == after[label], label
        assert before == after
        assert bodies(file) == bodies(copy)
        assert n_pages(shop) == Site.objects.get(name="copy").n_pages

    def test_the_history_that_is_compared_is_not_empty(self, file: Path) -> None:
        rows = history(file)

        assert [] == [label for label in site_import.CARRIED if not rows[label]]

    def test_another_installation_extracts_the_same_lines(
        self, shop: Site, file: Path, tmp_path: Path
    ) -> None:
        lines = tmp_path / "records.jsonl"
        call_command("extract_records", "shop", output=str(lines))
        with new_installation(tmp_path / "elsewhere") as elsewhere:
            elsewhere.manage("add_site", "first", "--url", "https://first.example/")
            elsewhere.manage("import_site", str(file))

            copy = elsewhere.manage("export_site", "shop", "--output", str(tmp_path / "elsewhere"))
            assert history(file) == history(Path(copy))
            assert bodies(file) == bodies(Path(copy))
            there = elsewhere.manage("extract_records", "shop")
        assert lines.read_text().strip() == there

    def test_the_original_is_left_alone(self, shop: Site, file: Path, tmp_path: Path) -> None:
        import_site(file, name="copy")

        assert history(file) == history(exported(shop, tmp_path / "again"))


class TestWhatIsDecidedHere:
    def test_schedules_are_paused_and_nobody_gets_a_role_or_a_message(self, file: Path) -> None:
        n_before = Webhook.objects.count(), Membership.objects.count()

        copy = import_site(file, name="copy").site

        schedule = Schedule.objects.get(site=copy)
        assert (False, None) == (schedule.is_active, schedule.next_at)
        assert n_before == (Webhook.objects.count(), Membership.objects.count())

    def test_people_are_matched_by_name_and_others_are_named_without_a_way_in(
        self, file: Path
    ) -> None:
        def bob(rows: Rows) -> None:
            rows[0]["username"] = "Bob"

        import_site(file, name="copy")
        import_site(with_rows(file, "core.user", bob), name="other")

        ada, other = User.objects.get(username="ada"), User.objects.get(username="Bob")
        assert Rule.objects.filter(cluster__site__name="copy", made_by=ada).exists()
        assert Rule.objects.filter(cluster__site__name="other", made_by=other).exists()
        assert (False, False) == (other.is_active, other.has_usable_password())

    def test_changes_are_numbered_after_those_that_are_known(self, shop: Site, file: Path) -> None:
        copy = import_site(file, name="copy").site

        numbers = Record.objects.filter(site=copy).values_list("change_number", flat=True)
        last = Record.objects.filter(site=shop).order_by("change_number").last()
        assert last is not None
        assert min(numbers) > last.change_number
        assert RecordVersion.objects.filter(record__site=copy).exists()

    def test_it_is_in_the_audit_trail(self, file: Path) -> None:
        import_site(file, name="copy")

        assert AuditEntry.objects.get(action="site.imported").subject == "copy"

    def test_a_name_that_is_taken_is_refused(self, file: Path) -> None:
        with pytest.raises(SiteExists, match="choose another name"):
            import_site(file)
        with pytest.raises(CommandError, match="choose another name"):
            call_command("import_site", str(file))

    def test_another_vertical_of_the_same_name_is_refused_in_words(self, file: Path) -> None:
        Attribute.objects.filter(name="weight").update(is_multi=True)

        with pytest.raises(VerticalDiffers, match="“product”: weight differ"):
            import_site(file, name="copy")
        assert not Site.objects.filter(name="copy").exists()

    def test_an_attribute_that_was_dropped_comes_along_dropped(self, file: Path) -> None:
        Attribute.objects.get(name="colour").delete()

        import_site(file, name="copy")

        assert Attribute.objects.get(name="colour").dropped_at is not None
        assert Vertical.objects.get().version == 1

    def test_a_body_that_was_lost_before_is_told(self, shop: Site, tmp_path: Path) -> None:
        lost = Snapshot.objects.filter(page__site=shop).earliest("pk")
        Snapshot.objects.filter(pk=lost.pk).update(body="0" * 64)

        assert import_site(exported(shop, tmp_path), name="copy").n_missing == 1


def refused(file: Path, why: str = "is not taken") -> None:
    """Expect an import to be refused for a reason, and nothing to be there."""
    n_before = Site.objects.count(), Page.objects.count(), User.objects.count()
    with pytest.raises(NotAnExport, match=why):
        import_site(file, name="copy")
    assert n_before == (Site.objects.count(), Page.objects.count(), User.objects.count())


VERDICT = asdict(ClusterVerdict("rope", "fine", False, False, "as it was", 12, 0.0, 0.0))
HOSTILE_ROWS: list[tuple[str, str, Any, str]] = [
    ("clustering.snapshot", "page_id", 999_999, "which is not in it"),
    ("clustering.page", "site_id", 999_999, "which is not in it"),
    ("clustering.page", "latest_snapshot_id", 999_999, "which is not in it"),
    ("clustering.page", "site_id", "1 OR 1", "no number of a row"),
    ("clustering.page", "id", 2**63, "is not taken"),
    ("clustering.page", "url", "javascript:alert(1)", "no address"),
    ("clustering.page", "state", "strange", "no state"),
    ("clustering.page", "first_seen_at", "yesterday", "format"),
    ("clustering.page", "password", "x", "not the columns"),
    ("clustering.snapshot", "body", "../../x", "no name of a body"),
    ("clustering.cluster", "name", "../x", "small letters"),
    ("clustering.clusterchange", "detail", {"pages": "all"}, "is not taken"),
    ("annotation.attribute", "regex", "(", "regex"),
    ("annotation.annotation", "xpath", "//*[count(//*[count(//*) > 1]) > 1]", "cannot be used"),
    ("clustering.clusterfigures", "cohesion", "nan", "nan is no cohesion"),
    ("core.user", "username", "<b>", "username"),
    ("core.site", "root_url", "file:///etc/passwd", "is not taken"),
    ("rules.rule", "stylesheet", "<x/>", "is not taken"),
    ("rules.rule", "version", -1, "greater than"),
    ("rules.record", "values", ["red"], "is no values of"),
    ("rules.record", "values", {"name": 1}, "no part of values"),
    ("rules.record", "values", {"name": ["red", 1]}, "no part of values"),
    ("rules.record", "confidence", {"name": "much"}, "no part of confidence"),
    ("rules.record", "nodes", {"name": {"x": 1}}, "no part of nodes"),
    ("rules.recordversion", "values", {"name": None}, "no part of values"),
    ("rules.goldenrecord", "records", ["x"], "no part of records"),
    ("monitoring.check", "clusters", "x", "is no clusters of"),
    ("monitoring.check", "clusters", [["rope"]], "no part of clusters"),
    ("monitoring.check", "clusters", [{"cluster": "rope"}], "no part of clusters"),
    ("monitoring.sitechange", "evidence", {**VERDICT, "shingle_share": []}, "no part of evidence"),
    ("monitoring.sitechange", "evidence", {**VERDICT, "coverage": [1.0]}, "no part of evidence"),
    ("rules.borrowedrule", "share_read", 1e308, "is no share_read"),
    ("rules.record", "confidence", {"name": 1e308}, "no part of confidence"),
    ("clustering.clusterchange", "detail", {}, "is no detail"),
    ("clustering.clusterchange", "detail", {"pages": "1"}, "is not taken"),
    ("monitoring.check", "broken", [{}], "no part of broken"),
    ("monitoring.check", "warnings", [1], "no part of warnings"),
    ("monitoring.check", "thresholds", {"pages": "half"}, "no part of thresholds"),
    ("monitoring.checkedpage", "failed", ["name"], "no part of failed"),
    ("monitoring.checkedpage", "failed", [{"attribute": "name"}], "no part of failed"),
    ("monitoring.checkedpage", "signs", {"lost": 5}, "no part of signs"),
    ("monitoring.sitechange", "evidence", {**VERDICT, "example": 1}, "no part of evidence"),
    ("monitoring.sitechange", "report", {"text": []}, "no part of report"),
    ("monitoring.sitechange", "report", {"hours_open": "long"}, "no part of report"),
]


class TestHostileFiles:
    def test_what_is_no_export_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.zip").write_bytes(b"no zip")

        refused(tmp_path / "x.zip", "not a usable zip")

    def test_one_that_is_cut_off_is_refused(self, file: Path) -> None:
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])

        refused(file, "not a usable zip")

    def test_files_are_refused(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("../etc/passwd", "/etc/passwd", "pages/../x.html", "rows/core.token/x.jsonl"):
            refused(changed(file, {name: b"x"}), "an export has no file")
        refused(changed(file, {"rows/core.token.jsonl": b""}), "no rows of a site")
        refused(changed(file, {"rows/rules.rule.jsonl": None}), "is not in it")
        refused(changed(file, {f"pages/{'0' * 64}.html": b"<p>x"}), "not what its name says")
        monkeypatch.setattr(site_import, "MAX_BYTES", 10)
        refused(file, "is larger than")

    def test_more_than_the_disk_takes_is_refused(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = shutil.disk_usage(file.parent)._replace(free=1_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

        refused(file, "it unpacks to")

    def test_bombs_are_refused(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(site_import, "MAX_FILES", 3)
        refused(file, "more than 3 entries")
        monkeypatch.undo()
        monkeypatch.setattr(site_import, "SUSPECT_UNPACKED", 1_000)
        monkeypatch.setattr(site_import, "MAX_RATIO", 1)
        refused(file, "refused as a bomb")

    def test_other_versions_are_refused(self, file: Path) -> None:
        with zipfile.ZipFile(file) as archive:
            description = orjson.loads(archive.read("export.json"))
        later = {**description, "format": 2}
        other = {**description, "migrations": description["migrations"][1:]}

        refused(changed(file, {"export.json": orjson.dumps(later)}), "format is 2")
        refused(changed(file, {"export.json": orjson.dumps(other)}), "another version wrote it")
        refused(changed(file, {"export.json": b"[]"}))

    def test_rows_are_refused(self, file: Path) -> None:
        Vertical.objects.update(name="other")  # so that the one in the file is added
        for label, name, value, why in HOSTILE_ROWS:
            refused(with_rows(file, label, set_first(name, value)), why)

    def test_rows_that_are_no_rows_are_refused(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for content in (b"no json\n", b"[]\n", b"{}\n", b"\xff\n", b"[" * 100_000):
            refused(changed(file, {"rows/clustering.page.jsonl": content}))
        refused(with_rows(file, "clustering.page", lambda rows: rows.append(rows[0])))
        monkeypatch.setattr(site_import, "MAX_NAMED", 1)
        refused(file, "more than 1 rows")
        monkeypatch.undo()
        monkeypatch.setattr(site_import, "BYTES_AT_ONCE", 10)
        refused(file, "rows of core.site are larger than")
        monkeypatch.setattr(site_import, "MAX_LINE", 10)
        refused(file, "is longer than")


@pytest.fixture
def uploads(settings: Settings, tmp_path: Path) -> Path:
    settings.UPLOAD_DIR = tmp_path / "uploads"
    settings.UPLOAD_DIR.mkdir()
    return tmp_path / "uploads"


def browser(name: str, role: Role) -> Client:
    client = Client()
    client.force_login(people.create_user(username=name, role=role, actor=None))
    return client


def uploaded(file: Path, name: str = "copy") -> dict[str, Any]:
    return {"file": SimpleUploadedFile("shop.zip", file.read_bytes()), "name": name}


def done_import() -> Job:
    """Do the job that imports a site, and return it as it ended."""
    return run_job(Job.objects.get(task=IMPORT_SITE.task).pk, IMPORT_SITE.work)


class TestUploads:
    def test_an_administrator_imports_a_site_in_the_browser(
        self, file: Path, uploads: Path, tmp_path: Path
    ) -> None:
        asked = browser("anna", Role.ADMINISTRATOR).post(reverse("import_site"), uploaded(file))
        job = done_import()

        assert asked.headers["Location"] == reverse("job", args=[job.pk])
        copy = Site.objects.get(name="copy")
        assert (Job.State.DONE, copy) == (job.state, job.site)
        before, after = history(file), history(exported(copy, tmp_path / "again"))
        for label in site_import.CARRIED:
            assert before[label] == after[label], label
        assert [] == list(uploads.iterdir())
        entry = AuditEntry.objects.get(action="site.imported")
        assert entry.actor is not None
        assert "anna" == entry.actor.username

    def test_a_program_imports_a_site(self, file: Path, uploads: Path) -> None:
        anna = caller("anna", Role.ADMINISTRATOR)
        answer = anna.upload("site-imports/", uploaded(file, "shop"))
        assert (409, []) == (answer.status_code, list(uploads.iterdir()))

        answer = anna.upload("site-imports/", uploaded(file))

        assert 202 == answer.status_code
        assert Job.State.DONE == done_import().state

    def test_an_operator_does_not(self, file: Path, uploads: Path) -> None:
        page = browser("olga", Role.OPERATOR).post(reverse("import_site"), uploaded(file))
        answer = caller("otto", Role.OPERATOR).upload("site-imports/", uploaded(file))

        assert (403, 403) == (page.status_code, answer.status_code)
        assert not Job.objects.filter(task=IMPORT_SITE.task).exists()

    def test_a_name_that_is_taken_is_said_at_once(self, file: Path, uploads: Path) -> None:
        page = browser("anna", Role.ADMINISTRATOR).post(
            reverse("import_site"), uploaded(file, "shop")
        )

        assert 400 == page.status_code
        assert "choose another name" in page.content.decode()
        assert [] == list(uploads.iterdir())

    def test_what_is_no_export_fails_in_words_and_adds_nothing(
        self, file: Path, uploads: Path
    ) -> None:
        hostile = with_rows(file, "clustering.page", set_first("site_id", 999_999))
        browser("anna", Role.ADMINISTRATOR).post(reverse("import_site"), uploaded(hostile))

        job = done_import()

        assert Job.State.FAILED == job.state
        assert "which is not in it" in job.error
        assert not Site.objects.filter(name="copy").exists()

    def test_a_process_that_ends_behind_the_last_row_leaves_one_site(
        self, file: Path, uploads: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def end(_: Path) -> None:
            raise SystemExit

        browser("anna", Role.ADMINISTRATOR).post(reverse("import_site"), uploaded(file))
        monkeypatch.setattr("vertex.core.services.files.uploads.drop_upload", end)
        with pytest.raises(SystemExit):
            done_import()

        assert Job.State.DONE == Job.objects.get(task=IMPORT_SITE.task).state
        with pytest.raises(JobNotClaimed):
            done_import()
        assert Site.objects.filter(name="copy").exists()

    def test_what_a_killed_process_leaves_is_swept(
        self, file: Path, uploads: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        left: list[str] = []

        def leave() -> None:
            left.extend(folder.name for folder in uploads.iterdir() if folder.name not in left)

        monkeypatch.setattr(site_import, "begin_step", leave)
        browser("anna", Role.ADMINISTRATOR).post(reverse("import_site"), uploaded(file))
        done_import()
        (folder,) = (uploads / name for name in left if not OWN_FOLDER.fullmatch(name))
        folder.mkdir()

        assert 0 == sweep_uploads(now=timezone.now())
        assert 1 == sweep_uploads(now=timezone.now() + 2 * KEPT_UNUSED)
        assert not folder.exists()

    def test_one_that_is_cancelled_adds_nothing(
        self, file: Path, uploads: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def cancel() -> None:
            Job.objects.update(cancel_requested_at=timezone.now())

        browser("anna", Role.ADMINISTRATOR).post(reverse("import_site"), uploaded(file))
        monkeypatch.setattr(site_import, "begin_step", cancel)

        assert Job.State.CANCELLED == done_import().state
        assert not Site.objects.filter(name="copy").exists()

    def test_workers_know_the_job(self) -> None:
        app.loader.import_default_modules()

        assert IMPORT_SITE.task in app.tasks
