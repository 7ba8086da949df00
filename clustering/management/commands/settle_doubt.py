"""Keep a person's answer to a doubt of a clustering, and cluster the site again by it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.models import ClusterAnswer, Clustering
from clustering.services.clusters import doubts
from clustering.services.looks.thumbnails import start_drawing
from vertex.core.management.output import WorkCommand
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobExists


class Command(WorkCommand):
    help = (
        "Keep the answer to a doubt of SITE's current clustering; this and every later clustering "
        "follows it. The site is clustered again here, and the pages that moved are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("doubt", metavar="DOUBT", help="as cluster_doubts names it")
        answer = parser.add_mutually_exclusive_group(required=True)
        answer.add_argument("--same", action="store_true", help="one template made both sets")
        answer.add_argument("--different", action="store_true", help="two templates made them")
        answer.add_argument(
            "--undo", action="store_true", help="take back the answer that was given"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        before = doubts.clusters_by_url(site)
        with self.open_output(options["output"]) as lines:
            if options["undo"]:
                self._undo(site, options["doubt"])
            else:
                self._settle(site, options["doubt"], is_same=options["same"])
            clustering = self._cluster_again(site)
            n_moved = 0
            for line in doubts.moved_pages(before, clustering):
                lines.write(line)
                n_moved += 1
        self.notice(f"{site.name}: {n_moved:,} page{'' if n_moved == 1 else 's'} moved")

    def _settle(self, site: Site, doubt: str, *, is_same: bool) -> None:
        settled = doubts.store_answer(site=site, doubt=doubt, is_same=is_same, actor=None)
        for answer in settled.overruled:
            self.notice(
                f"{site.name}: the answer contradicts an earlier one and holds instead of it: "
                f"{doubts.sentence_of(answer)} (doubt {answer.doubt})"
            )

    def _undo(self, site: Site, doubt: str) -> None:
        answers = ClusterAnswer.objects.not_undone().filter(site=site, doubt=doubt)
        answer = answers.select_related("site").first()
        if answer is None:
            raise CommandError(f"{site.name} has no answer to a doubt {doubt!r} that is in force")
        doubts.take_back_answer(answer=answer, actor=None)

    def _cluster_again(self, site: Site) -> Clustering:
        """Cluster the site by its algorithm and parameters, and return the new clustering."""
        try:
            with self.progress(f"{site.name}: clustering", site.n_pages) as advance:
                result = self.run_here(doubts.follow_request(site=site), report=advance)
        except JobExists as unfinished:
            raise CommandError(
                f"the answer is kept, but {unfinished}; it is followed when the site "
                "is clustered next"
            ) from unfinished
        start_drawing(site=site)
        return Clustering.objects.without_model().get(pk=result["clustering"])
