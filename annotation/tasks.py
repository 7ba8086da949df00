"""What workers do when rung: a task for each kind of job of this app."""

from __future__ import annotations

from dataclasses import replace

from annotation.services.files import importing
from annotation.services.samples import sampling
from vertex.core.tasks import register

register(importing.IMPORT_ANNOTATIONS)
register(replace(sampling.DRAW_SAMPLES, work=sampling.draw_samples_with_looks))
