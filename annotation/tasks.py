"""What workers do when rung."""

from __future__ import annotations

from celery import shared_task

from annotation.services.files import importing
from annotation.services.samples import sampling
from vertex.core.tasks import answer


@shared_task(name="annotation.draw_samples")
def draw_samples(job_id: int) -> None:
    answer(job_id, sampling.draw_samples_with_looks)


@shared_task(name="annotation.import_annotations")
def import_annotations(job_id: int) -> None:
    answer(job_id, importing.import_annotations)
