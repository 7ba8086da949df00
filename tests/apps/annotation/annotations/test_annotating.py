"""What is said of an attribute on a page: revisions, conflicts, undo."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError, RestrictedError
from django.utils import timezone

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Annotation
from annotation.services.annotations import annotating
from annotation.services.annotations.annotated_values import (
    AnnotatedValue,
    anchor_of,
    current_revision,
)
from annotation.services.annotations.annotating import AnnotatedMeanwhile, NoSuchRevision, annotate
from annotation.services.verticals.verticals import VerticalInUse, assign_vertical, delete_vertical
from clustering.models import Page, Snapshot
from clustering.services.sites import retention
from tests.apps.annotation.cast import attribute, product_page, said, shop
from vertex.core.models import AuditEntry, Job, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

RED = AnnotatedValue(Anchor("/html/body/b[1]", "red"))
BLUE = AnnotatedValue(
    Anchor("/html/body/b[2]", "blue", start=3, end=7, prefix="a", suffix="b", position=9)
)
ABSENT = AnnotatedValue()


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def page(site: Site) -> Page:
    return product_page(site, "p/1")


def mark(page: Page, *marks: AnnotatedValue, name: str = "colour", **options: object) -> int:
    snapshot = page.latest_snapshot
    assert snapshot is not None
    options.setdefault("actor", None)
    return annotate(snapshot=snapshot, attribute=attribute(name), marks=marks, **options)  # type: ignore[arg-type]


def texts(page: Page) -> list[str]:
    return [text for _, _, text in said(page, "colour")]


class TestRevisions:
    def test_what_is_said_replaces_what_was_said(self, page: Page) -> None:
        assert 1 == mark(page, RED)
        assert 2 == mark(page, BLUE, RED)
        assert ["blue", "red"] == texts(page)

    def test_what_was_said_is_kept(self, page: Page) -> None:
        mark(page, RED)
        mark(page, BLUE)
        old = Annotation.objects.get(revision=1)

        assert ("red", True) == (old.text, old.superseded_at is not None)

    def test_other_attributes_are_left_alone(self, page: Page) -> None:
        mark(page, RED)
        mark(page, BLUE, name="name")

        assert ["red"] == texts(page)

    def test_absence_is_said_too(self, page: Page) -> None:
        mark(page, RED)
        mark(page, ABSENT)

        assert [("absent", "", "")] == said(page, "colour")

    def test_nothing_known_is_a_revision_as_well(self, page: Page) -> None:
        mark(page, RED)

        assert 2 == mark(page)
        assert [] == texts(page)
        assert 2 == current_revision(page, attribute("colour"))

    def test_an_anchor_comes_back_as_it_was(self, page: Page) -> None:
        mark(page, BLUE)

        assert BLUE.anchor == anchor_of(Annotation.objects.get())

    def test_records_belong_to_no_attribute(self, page: Page) -> None:
        snapshot = page.latest_snapshot
        assert snapshot is not None
        annotate(
            snapshot=snapshot,
            attribute=None,
            marks=[AnnotatedValue(record=("/html/body/p",))],
            actor=None,
        )
        mark(page, RED)

        assert [("record", "", "")] == said(page, None)
        assert ["/html/body/p"] == Annotation.objects.get(kind="record").record

    def test_author_and_source_are_written_down(self, page: Page) -> None:
        ada = User.objects.create(username="ada")
        mark(page, RED, actor=ada, source=Annotation.Source.SUGGESTION)
        row = Annotation.objects.get()

        assert (ada, "suggestion") == (row.author, row.source)
        assert AuditEntry.objects.filter(
            action="annotation.changed", actor=ada, subject=page.url
        ).exists()


class TestConflicts:
    def test_the_revision_that_was_read_can_be_changed(self, page: Page) -> None:
        assert 2 == mark(page, BLUE, revision=mark(page, RED))

    def test_another_one_is_refused(self, page: Page) -> None:
        mark(page, RED)
        mark(page, BLUE)
        with pytest.raises(AnnotatedMeanwhile, match="revision 2 now"):
            mark(page, RED, revision=1)
        assert ["blue"] == texts(page)

    def test_the_database_refuses_two_values_at_one_position(self, page: Page) -> None:
        mark(page, RED)
        row = Annotation.objects.get()
        row.pk = None
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save()


class TestUndo:
    def test_an_earlier_revision_holds_again(self, page: Page) -> None:
        mark(page, RED, BLUE)
        mark(page, ABSENT)
        new = annotating.restore_revision(
            page=page, attribute=attribute("colour"), revision=1, actor=None
        )

        assert (3, ["red", "blue"]) == (new, texts(page))

    def test_nothing_can_be_restored_too(self, page: Page) -> None:
        mark(page, RED)
        mark(page)
        mark(page, BLUE)
        annotating.restore_revision(
            page=page, attribute=attribute("colour"), revision=2, actor=None
        )

        assert [] == texts(page)

    def test_a_revision_that_never_was_is_refused(self, page: Page) -> None:
        with pytest.raises(NoSuchRevision):
            annotating.restore_revision(
                page=page, attribute=attribute("colour"), revision=1, actor=None
            )


class TestKeeping:
    def test_an_annotation_holds_its_snapshot_and_attribute(self, page: Page) -> None:
        mark(page, RED)
        with pytest.raises(RestrictedError):
            Snapshot.objects.filter(page=page).delete()
        with pytest.raises(ProtectedError):
            attribute("colour").delete()

    def test_a_vertical_with_annotations_is_kept(self, site: Site, page: Page) -> None:
        mark(page, RED)
        assign_vertical(site=site, vertical=None, actor=None)
        with pytest.raises(VerticalInUse, match="1 annotations"):
            delete_vertical(vertical=attribute("colour").vertical, actor=None)

    def test_annotations_go_with_their_site(self, site: Site, page: Page) -> None:
        mark(page, RED)
        run_job(retention.start_deletion(site=site, actor=None).pk, retention.delete_site)

        assert (0, 0) == (Annotation.objects.count(), Site.objects.count())

    def test_the_retention_keeps_what_an_annotation_refers_to(self, site: Site, page: Page) -> None:
        mark(page, RED)
        annotated = page.latest_snapshot
        assert annotated is not None
        later = [
            Snapshot.objects.create(
                page=page,
                body=annotated.body,
                n_bytes=1,
                fetched_at=timezone.now(),
                seen_at=timezone.now(),
            )
            for _ in range(2)
        ]
        Site.objects.update(snapshots_kept=1)
        job = run_job(create_here(retention.sweep_request()).pk, retention.sweep)

        assert Job.State.DONE == job.state, job.error
        assert {annotated, later[1]} == set(Snapshot.objects.filter(page=page))
