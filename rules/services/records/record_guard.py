"""Ask whoever watches a site whether what was extracted is to be believed, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.module_loading import import_string

from rules.models import Rule
from rules.services.records.storing import ExtractedPage
from vertex.core.models import Site


def believed(
    site: Site, served: Sequence[ExtractedPage], rule_by_cluster: Mapping[str, Rule]
) -> list[ExtractedPage]:
    """Return the pages that may be stored, in the caller's transaction; the others stay due.

    The guard is named by the settings, because what watches a site knows the rules and not the other way
    round.
    """
    held = import_string(settings.RECORDS_GUARD)(site, served, rule_by_cluster)
    return [one for one in served if one.page.pk not in held]
