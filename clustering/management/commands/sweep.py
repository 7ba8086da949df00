"""Apply the retention now."""

from __future__ import annotations

from typing import Any

from clustering.services.sites import retention
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Drop snapshots beyond the number kept, and bodies that nothing names; "
        "workers do it every night."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        result = self.run_here(retention.sweep_request())
        self.notice(f"{result['snapshots']:,} snapshots and {result['bodies']:,} bodies dropped")
