"""Which pages of a site a browser fetches: all of them, or those of some clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clustering.algorithms.url_patterns import matches
from clustering.dom.addresses import url_hash
from clustering.models import ClusterFigures, PageMembership
from vertex.core.models import Site


@dataclass(frozen=True, slots=True)
class RenderedPages:
    """The pages of a site that show something only after their scripts ran."""

    site: Site
    patterns: Sequence[str]  # of addresses, of the clusters that a browser fetches
    other_patterns: Sequence[str]

    def has(self, url: str) -> bool:
        """Return whether a browser fetches an address.

        A page that is in no cluster yet counts by its address, where only such clusters have
        one like it.
        """
        if self.site.render or not self.patterns:
            return self.site.render
        membership = (
            PageMembership.objects.filter(
                clustering__is_current=True,
                cluster__isnull=False,
                page__site=self.site,
                page__url_hash=url_hash(url),
            )
            .values_list("cluster__is_rendered", flat=True)
            .first()
        )
        if membership is not None:
            return membership
        return _matches_any(self.patterns, url) and not _matches_any(self.other_patterns, url)


def rendered_pages(site: Site) -> RenderedPages:
    """Return which pages of a site a browser fetches now."""
    figures = ClusterFigures.objects.current().filter(clustering__site=site)
    pairs = list(figures.values_list("cluster__is_rendered", "url_pattern"))
    return RenderedPages(
        site,
        patterns=[pattern for is_rendered, pattern in pairs if is_rendered],
        other_patterns=[pattern for is_rendered, pattern in pairs if not is_rendered],
    )


def _matches_any(patterns: Sequence[str], url: str) -> bool:
    return any(pattern and matches(pattern, url) for pattern in patterns)
