"""Let the folder of the page store be this installation's."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from vertex.core.management.output import WorkCommand
from vertex.core.models import Installation
from vertex.core.storage import write_owner


class Command(WorkCommand):
    help = (
        "Let the folder of the page store be this installation's from now on, whatever it was: "
        "after it was "
        "replaced by an empty one, or by one that was restored from elsewhere."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.PAGE_STORE_DIR
        owner = Installation.objects.values_list("store", flat=True).first()
        if owner is None:
            self.notice(
                f"no page store was used yet: {folder} will be this installation's when it is"
            )
            return
        write_owner(folder, owner)
        self.notice(f"{folder} is the page store of this installation")
