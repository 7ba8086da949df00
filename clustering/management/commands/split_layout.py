"""Split a layout of a cluster off into a cluster of its own, or take that back."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.models import Cluster, ClusterChange, Clustering
from clustering.services.clusters import cluster_changes, doubts, layouts
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.step_limits import limited_steps


class Command(WorkCommand):
    help = (
        "Make the pages of a LAYOUT of a CLUSTER of SITE, as cluster_kinds names them, a cluster "
        "of their own, in this and every later clustering. The pages that moved are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("cluster", metavar="CLUSTER")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("layout", metavar="LAYOUT", nargs="?")
        what.add_argument("--undo", action="store_true", help="take back the newest such split")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        cluster = Cluster.objects.filter(site=site, name=options["cluster"]).first()
        if cluster is None:
            raise CommandError(f"{site.name} has no cluster {options['cluster']!r}")
        before = doubts.clusters_by_url(site)
        with limited_steps():
            if options["undo"]:
                self._undo(cluster)
            else:
                layout = layouts.layout_named(cluster, options["layout"])
                layouts.split_off_layout(cluster=cluster, layout=layout, actor=None)
        clustering = Clustering.objects.current().filter(site=site).without_model().get()
        n_moved = 0
        with self.open_output(options["output"]) as lines:
            for line in doubts.moved_pages(before, clustering):
                lines.write(line)
                n_moved += 1
        self.notice(f"{site.name}: {n_moved:,} page{'' if n_moved == 1 else 's'} moved")

    def _undo(self, cluster: Cluster) -> None:
        """Take back the newest split of a layout of the cluster that is in force."""
        splits = ClusterChange.objects.filter(
            cluster=cluster, detail__by_layout=True, undone_at=None
        )
        newest = splits.select_related("site", "cluster").order_by("-pk").first()
        if newest is None:
            raise CommandError(f"no layout of {cluster} is split off, so nothing can be taken back")
        cluster_changes.undo_change(change=newest, actor=None)
