"""Write what the product is made of, or look for known vulnerabilities in it."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from clustering.fetching.client import open_fetcher
from vertex.core.management.output import STANDARD, open_output
from vertex.running.bill_of_materials import (
    ADVISORIES,
    LockedPackage,
    NotAsked,
    bill_of,
    known_vulnerabilities,
    read_locked,
)


class Command(BaseCommand):
    help = (
        "Write the bill of materials of the locked requirements as CycloneDX JSON. "
        "With --check ask a"
        " database of advisories for known vulnerabilities instead: "
        "status 1 where there are any; where"
        " nobody can be asked, that is said, with status 0."
    )
    requires_system_checks: list[str] = []  # it needs neither database nor settings of production

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--output", default=STANDARD, metavar="FILE", help="default: standard output"
        )
        parser.add_argument(
            "--requirements",
            type=Path,
            default=settings.BASE_DIR / "requirements.txt",
            metavar="FILE",
            help="the locked requirements (default: those of the product)",
        )
        parser.add_argument("--check", action="store_true", help="look for known vulnerabilities")
        parser.add_argument(
            "--advisories",
            default=ADVISORIES,
            metavar="URL",
            help="who is asked, as OSV answers (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            packages = read_locked(options["requirements"].read_text())
        except OSError as error:
            raise CommandError(
                f"{options['requirements']}: {error.strerror}; "
                "--requirements names the locked requirements"
            ) from None
        if options["check"]:
            self.check_packages(packages, options["advisories"])
            return
        bill = json.dumps(bill_of(packages, product_version()), indent=2)
        with open_output(options["output"], self.stdout) as lines:  # type: ignore[arg-type]
            lines.write_bytes(f"{bill}\n".encode())

    def check_packages(self, packages: list[LockedPackage], advisories: str) -> None:
        """Print which packages have known vulnerabilities. Raises CommandError where some have."""
        try:
            with open_fetcher() as fetcher:
                vulnerabilities = known_vulnerabilities(fetcher, packages, advisories)
        except NotAsked as why:
            self.stderr.write(
                f"Not checked: nobody can be asked for known vulnerabilities ({why}). "
                "Run it again where"
                " there is a network."
            )
            return
        for vulnerability in vulnerabilities:
            package = vulnerability.package
            self.stdout.write(f"{package.name} {package.version}: {vulnerability.advisory}")
        if vulnerabilities:
            n_packages = len({vulnerability.package for vulnerability in vulnerabilities})
            raise CommandError(
                f"{len(vulnerabilities)} known vulnerabilities in {n_packages} of "
                f"{len(packages)} packages"
            )
        self.stderr.write(f"{len(packages)} packages, no known vulnerability")


def product_version() -> str:
    """Return the version of the product: that of the checkout, else of the installed package."""
    project = settings.BASE_DIR / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text())["project"]["version"])
    try:
        return installed_version("vertex")
    except PackageNotFoundError:
        return "unknown"
