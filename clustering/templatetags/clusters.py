"""What pages of clusters are drawn with: shares as bars, thumbnails, the mark of a cluster."""

from __future__ import annotations

from typing import Any

from django.template import Library
from django.utils.html import format_html
from django.utils.safestring import SafeString

from clustering.models import ClusterFigures, ClusterKind, Page
from clustering.services.clusters.kinds import kind_of

register = Library()

NOTHING = "\u2013"  # a dash
N_HUES, N_SHAPES = 8, 6
MIN_WHOLE = 1_000  # from here on a figure is written without fractions
LOW_CERTAINTY = 0.7  # below it a kind is shown with a question mark
MIN_SHARE = 0.001  # a smaller share is written as less than that


@register.filter
def percent(share: object) -> str:
    """Write a share from 0 to 1 in percent; a dash where there is none."""
    if not isinstance(share, int | float):
        return NOTHING
    return f"< {100 * MIN_SHARE:.1f} %" if 0 < share < MIN_SHARE else f"{100 * share:.1f} %"


@register.filter
def decimal(number: object) -> str:
    """Write a number from 0 to 1 with three digits; a dash where there is none."""
    return f"{number:.3f}" if isinstance(number, int | float) else NOTHING


@register.filter
def brief(number: object) -> str:
    """Write a figure as short as it is told apart: 150, 0.25; a dash where there is none."""
    if not isinstance(number, int | float):
        return NOTHING
    return f"{number:,.4g}" if abs(number) < MIN_WHOLE else f"{number:,.0f}"


@register.simple_tag
def share_bar(share: float | None) -> SafeString:
    """Draw a share from 0 to 1 as a bar; the figure beside it shows it in numbers."""
    width = f"{100 * min(1.0, max(0.0, share or 0)):.1f}"
    return format_html(
        '<svg class="share-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="share-ground" width="100" height="6"/>'
        '<rect class="share-fill" width="{}" height="6"/>'
        "</svg>",
        width,
    )


@register.simple_tag
def mark(number: int | None) -> SafeString:
    """Draw the mark of the cluster with this number on the map: a shape in a colour."""
    if number is None:
        return _drawn_mark("none", "none")
    return _drawn_mark(number % N_HUES, number % N_SHAPES)


def _drawn_mark(hue: object, shape: object) -> SafeString:
    return format_html(
        '<svg class="mark hue-{}" viewBox="0 0 12 12" aria-hidden="true">'
        '<use href="#mark-{}" width="12" height="12"/></svg>',
        hue,
        shape,
    )


@register.simple_tag
def kind_badge(figures: ClusterFigures) -> SafeString:
    """Show of what kind a cluster is, and how surely; a dash where no clustering told it."""
    kind = kind_of(figures)
    if not kind.kind:
        return format_html('<span class="muted">{}</span>', NOTHING)
    if kind.is_own:
        why, mark_of_doubt = "Set by a person", ""
    else:
        why = f"Found with a certainty of {100 * (kind.certainty or 0):.0f} %"
        mark_of_doubt = "?" if (kind.certainty or 0) < LOW_CERTAINTY else ""
    tone = "good" if kind.kind == ClusterKind.DETAIL else "unknown"
    return format_html(
        '<span class="badge is-{}" title="{}">{}{}<span class="hidden-text">. {}</span></span>',
        tone,
        why,
        kind.label,
        mark_of_doubt,
        why,
    )


@register.inclusion_tag("clustering/clusters/thumbnail.html")
def thumbnail(site_name: str, page: Page | None, size: str = "") -> dict[str, Any]:
    """Show the picture of a page's latest snapshot, an empty sheet where it has none."""
    snapshot = page.latest_snapshot if page is not None else None
    return {"site_name": site_name, "page": page, "snapshot": snapshot, "size": size}
