"""The frame in which a stored page is shown, with the line below it."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.template import Context, Library
from django.urls import reverse
from django.utils.http import urlencode

from clustering.models import Snapshot
from clustering.services.looks import frames

register = Library()


class Frame(NamedTuple):
    """A frame for one showing."""

    address: str
    token: str
    line: frames.FrameLine


@register.simple_tag(takes_context=True)
def frame_of(context: Context, snapshot: Snapshot) -> Frame:
    """Return the frame of a snapshot for one showing."""
    token = frames.make_token(snapshot)
    address = reverse("page_frame", args=[snapshot.page.site.name, snapshot.pk])
    user: Any = context["request"].user
    return Frame(f"{address}?{urlencode({'token': token})}", token, frames.line_of(snapshot, user))
