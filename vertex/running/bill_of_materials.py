"""What the product is made of, as CycloneDX JSON, and which parts have known vulnerabilities."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from clustering.fetching.client import Fetcher
from clustering.fetching.refusals import FetchRefused

ADVISORIES: Final = "https://api.osv.dev/v1/querybatch"  # takes many packages in one question
ASKED_AT_ONCE: Final = 500
ANSWER_SECONDS: Final = 60.0
_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class NotAsked(Exception):
    """Nobody could be asked for known vulnerabilities."""


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package of one version, with the hashes of the files that may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]  # other packages; none where the product itself asks for it

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class KnownVulnerability:
    """An entry of the database of advisories that is about a package of this version."""

    package: LockedPackage
    advisory: str


def read_locked(text: str) -> list[LockedPackage]:
    """Return the packages of locked requirements, with the comments that say what needs them."""
    packages = []
    for block in _blocks(text):
        pin = _PIN.match(block)
        if pin is None:
            continue
        comments = [line.partition("#")[2].strip() for line in block.splitlines() if "#" in line]
        parents = [comment.removeprefix("via").strip() for comment in comments]
        packages.append(
            LockedPackage(
                name=pin[1].lower().replace("_", "-"),
                version=pin[2],
                hashes=tuple(_HASH.findall(block)),
                needed_by=tuple(name for name in parents if name and not name.startswith("-r")),
            )
        )
    return packages


def _blocks(text: str) -> Iterator[str]:
    """Yield each requirement with the indented lines below it."""
    block: list[str] = []
    for line in text.splitlines():
        if line[:1].strip() and not line.startswith("#"):
            yield "\n".join(block)
            block = []
        block.append(line)
    yield "\n".join(block)


def bill_of(packages: Sequence[LockedPackage], version: str) -> dict[str, Any]:
    """Return the bill of materials; the same packages give the same bill."""
    product = f"vertex@{version}"
    needs: dict[str, list[str]] = {product: []}
    purl_by_name = {package.name: package.purl for package in packages}
    for package in packages:
        needs.setdefault(package.purl, [])
        parents = [purl_by_name[name] for name in package.needed_by if name in purl_by_name]
        for parent in parents or [product]:
            needs.setdefault(parent, []).append(package.purl)
    content = " ".join(sorted(purl_by_name.values()))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{product} {content}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "vertex",
                "version": version,
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": package.purl,
                "name": package.name,
                "version": package.version,
                "purl": package.purl,
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
            }
            for package in packages
        ],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(set(children))}
            for reference, children in needs.items()
        ],
    }


def known_vulnerabilities(
    fetcher: Fetcher, packages: Sequence[LockedPackage], advisories: str = ADVISORIES
) -> list[KnownVulnerability]:
    """Return what a database of advisories knows of the packages. Raises NotAsked."""
    vulnerabilities = []
    for start in range(0, len(packages), ASKED_AT_ONCE):
        batch = packages[start : start + ASKED_AT_ONCE]
        for package, advisory_ids in zip(batch, _asked(fetcher, batch, advisories), strict=True):
            vulnerabilities += [KnownVulnerability(package, advisory) for advisory in advisory_ids]
    return vulnerabilities


def _asked(fetcher: Fetcher, packages: Sequence[LockedPackage], advisories: str) -> list[list[str]]:
    """Return the advisories of each package. Raises NotAsked."""
    question = {
        "queries": [
            {"package": {"ecosystem": "PyPI", "name": package.name}, "version": package.version}
            for package in packages
        ]
    }
    try:
        answer = fetcher.fetch(
            advisories,
            method="POST",
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            content=json.dumps(question).encode(),
            seconds=ANSWER_SECONDS,
        )
    except FetchRefused as refused:
        raise NotAsked(str(refused)) from None
    if answer.status != 200:
        raise NotAsked(f"{advisories} answers {answer.status}")
    try:
        results = json.loads(answer.body)["results"]
        advisory_ids = [[str(entry["id"]) for entry in row.get("vulns", ())] for row in results]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotAsked(f"{advisories} answers something else than advisories") from None
    if len(advisory_ids) != len(packages):
        raise NotAsked(
            f"{advisories} answers about {len(advisory_ids)} of {len(packages)} packages"
        )
    return advisory_ids
