"""Names of clusters, which stand in addresses and file names: short, plain, never given twice."""

from __future__ import annotations

from collections.abc import Collection

from django.utils.text import slugify

from clustering.models import Cluster
from vertex.core.models import Site

MAX_NAME_CHARS = 61
NAMELESS = "cluster"  # where no letter of a title is one of a to z


def used_names(site: Site) -> set[str]:
    """Return all names that clusters of a site have or had."""
    return set(Cluster.objects.filter(site=site).values_list("name", flat=True))


def free_name(title: str, used: Collection[str]) -> str:
    """Return the name that a title gives, with a number where another cluster has it.

    >>> free_name("Product pages", {"product-pages"})
    'product-pages-2'
    """
    name = slugify(title).replace("_", "-")[:MAX_NAME_CHARS].strip("-") or NAMELESS
    number, free = 1, name
    while free in used:
        number += 1
        suffix = f"-{number}"
        free = name[: MAX_NAME_CHARS - len(suffix)].rstrip("-") + suffix
    return free
