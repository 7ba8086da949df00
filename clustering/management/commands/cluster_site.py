"""Cluster the stored pages of a site."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.algorithms.clusterers import CLUSTERERS, parameter_lines
from clustering.algorithms.parameters import BadParameter, Value, parse_values
from clustering.models import Clustering
from clustering.services.clusters import clusterings
from clustering.services.looks.thumbnails import start_drawing
from vertex.core.management.output import WorkCommand, whole_number


class Command(WorkCommand):
    help = (
        "Group the stored pages of SITE by type and write the cluster of each. The result becomes "
        "the site's current clustering; clusters that go on keep their names."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--algorithm", choices=list(CLUSTERERS), default="auto", help="(default: auto)"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=(
                "a parameter of the algorithm; may be repeated. Those that are not named have "
                f"their paper's value. {' '.join(parameter_lines())}".replace("%", "%%")
            ),
        )
        parser.add_argument(
            "--sample",
            type=whole_number,
            metavar="N",
            help="group so many pages and assign the others (default: all up to 2,000, "
            "of more a fifth)",
        )
        parser.add_argument(
            "--compare", action="store_true", help="keep the result beside the current clustering"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = clusterings.clustering_request(
                site=site,
                algorithm=options["algorithm"],
                n_sample=options["sample"],
                compare=options["compare"],
                parameters=_parse_parameters(options["algorithm"], options["set"]),
            )
            with self.progress(f"{site.name}: clustering", site.n_pages) as advance:
                result = self.run_here(request, report=advance)
            if not options["compare"]:
                start_drawing(site=site)
            clustering = Clustering.objects.without_model().get(pk=result["clustering"])
            for line in clusterings.assignments(clustering):
                lines.write(line)
        self._summarise(clustering, result)

    def _summarise(self, clustering: Clustering, result: dict[str, Any]) -> None:
        self.notice(
            f"{clustering.site.name}: {_counted(result['clusters'], 'cluster')} of "
            f"{_counted(result['pages'], 'page')}, {result['unassigned']:,} in none; "
            f"{clustering.why}"
        )


def _parse_parameters(algorithm: str, settings: list[str]) -> dict[str, Value]:
    """Return the parameters from texts such as `k=2`. Raises CommandError for wrong usage."""
    texts: dict[str, str] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise CommandError(f"--set takes NAME=VALUE, not {setting}", returncode=2)
        texts[name.strip()] = text
    try:
        return parse_values(algorithm, CLUSTERERS[algorithm].parameters, texts)
    except BadParameter as error:
        raise CommandError(str(error), returncode=2) from error


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
