"""Draw the pages that are worth annotating."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandParser

from annotation.algorithms.sampling import SAMPLE_SIZE, SCHEMES
from annotation.models import Sample
from annotation.services.samples import sampling
from clustering.dom.addresses import address_keys
from vertex.core.management.output import WorkCommand, whole_number


class Command(WorkCommand):
    help = (
        "Draw pages of each cluster of SITE that is worth annotating, the most worth it first, and "
        "write them. They replace the samples that the cluster had; annotations stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--cluster",
            default="",
            metavar="C",
            help="only this cluster (default: all worth annotating)",
        )
        parser.add_argument(
            "--size", type=whole_number, default=SAMPLE_SIZE, metavar="N", help="(default: 20)"
        )
        parser.add_argument(
            "--scheme", choices=list(SCHEMES), default="weighted", help="(default: weighted)"
        )
        parser.add_argument(
            "--prefer-unseen",
            action=BooleanOptionalAction,
            default=True,
            help="count labels and layouts beside the paths of the paper (default: yes)",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = sampling.samples_request(
                site=site,
                cluster=options["cluster"],
                size=options["size"],
                scheme=options["scheme"],
                prefer_unseen=options["prefer_unseen"],
            )
            with self.progress(f"{site.name}: drawing samples") as advance:
                result = self.run_here(request, report=advance)
            drawn = Sample.objects.filter(
                cluster__site=site, cluster__in=sampling.clusters_to_draw(site, options["cluster"])
            ).in_order()
            rows = drawn.values_list("cluster__name", "rank", "page__given_url", "gain")
            for cluster, rank, url, gain in rows.iterator(chunk_size=1_000):
                lines.write({"cluster": cluster, "rank": rank, **address_keys(url), "gain": gain})
        if not options["cluster"]:
            for left_out, reason in sampling.clusters_left_out(site):
                self.notice(
                    f"{site.name}: {left_out.name} was left out ({reason.lower()}); draw its "
                    f"samples with --cluster {left_out.name}"
                )
        self.notice(
            f"{site.name}: {result['samples']:,} samples of {result['clusters']:,} clusters"
        )
