"""What templates say it with: icons, states in words, times, figures, addresses."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.http import QueryDict
from django.template import Context, Library
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.heartbeat import read_machine_health

register = Library()

NOTHING = "\u2013"  # a dash
END_OF_URL = 18
READ_WITHIN = timedelta(seconds=5)  # any page, from its first question on
MAX_UNBROKEN = 16  # characters of a name that has room on any screen
WORDS_MEET = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.])")
MINUTE, HOUR, DAY, WEEK = (
    timedelta(minutes=1),
    timedelta(hours=1),
    timedelta(days=1),
    timedelta(days=7),
)


class Tone(NamedTuple):
    """How a state looks: the class that colours it and the icon that says it without colour."""

    tone: str
    icon: str


JOB_TONES = {
    Job.State.DUE: Tone("unknown", "clock"),
    Job.State.RUNNING: Tone("busy", "busy"),
    Job.State.DONE: Tone("good", "good"),
    Job.State.FAILED: Tone("bad", "bad"),
    Job.State.CANCELLED: Tone("unknown", "skipped"),
}
MESSAGE_TONES = {constants.SUCCESS: "good", constants.WARNING: "warning", constants.ERROR: "bad"}


# Icons and states


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Draw an icon of the sprite; words beside it say what it means."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="#icon-{}"></use></svg>', extra, name
    )


@register.simple_tag
def badge(tone: str, word: object, icon_name: str = "") -> SafeString:
    """Render a state as a badge: `tone` is good, warning, bad, unknown or busy."""
    drawn = icon(icon_name or tone)
    return format_html('<span class="badge is-{}">{}{}</span>', tone, drawn, word)


@register.simple_tag
def job_badge(job: Job) -> SafeString:
    if job.state == Job.State.RUNNING and job.cancel_requested_at:
        return badge("busy", "Stopping")
    return badge(JOB_TONES[Job.State(job.state)].tone, job.get_state_display(), _job_icon(job))


def _job_icon(job: Job) -> str:
    return JOB_TONES[Job.State(job.state)].icon


@register.simple_tag
def status_badge(status: int | None) -> SafeString | str:
    """Show an HTTP status; the first digit decides whether it is a good one."""
    if status is None:
        return NOTHING
    tone = {2: "", 3: "", 4: "text-warning", 5: "text-bad"}.get(status // 100, "text-warning")
    return format_html('<span class="{}">{}</span>', tone, status)


@register.filter
def tone(message: Message) -> str:
    """Return the tone of a message: good, warning, bad or unknown."""
    return MESSAGE_TONES.get(message.level, "info")


@register.filter
def undo(message: Message) -> dict[str, Any] | None:
    """Return what undoes the thing that the message tells of: `url` and `fields`."""
    if not (message.extra_tags or "").startswith("{"):
        return None
    action: dict[str, Any] = json.loads(message.extra_tags)
    return action


# Figures and times


@register.filter
def figure(number: float | None) -> str:
    """Write a number with its thousands apart, and a dash where there is none."""
    return NOTHING if number is None else f"{number:,}"


@register.filter
def figure_or_text(value: object) -> object:
    """Write a number with its thousands apart and leave everything else as it is."""
    return (
        figure(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    )


@register.filter
def share(number: int, whole: int) -> str:
    """Write what part of a whole a number is."""
    return f"{100 * number / whole:.1f} % of {whole:,}" if whole else ""


@register.filter
def words(code: str) -> str:
    """Write a code such as too_large in words."""
    return code.replace("_", " ")


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """Write how long ago a moment was; the pointer shows the moment itself."""
    if moment is None:
        return NOTHING
    return _time(moment, relative(moment, timezone.now()))


@register.filter
def at(moment: datetime | None) -> SafeString | str:
    """Write a moment as date and time; the pointer shows how long ago it was."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(),
        relative(moment, timezone.now()),
        format_date(
            local, "j M, H:i:s" if local.year == timezone.localtime().year else "j M Y, H:i:s"
        ),
    )


def _time(moment: datetime, text: str) -> SafeString:
    local = timezone.localtime(moment)
    whole = format_date(local, "l j F Y, H:i:s T")
    return format_html('<time datetime="{}" title="{}">{}</time>', local.isoformat(), whole, text)


def relative(moment: datetime, now: datetime) -> str:
    """Return in a few words how far a moment lies from now."""
    gap = abs(now - moment)
    if gap < 5 * timedelta(seconds=1):
        return "just now"
    if gap >= WEEK:
        local = timezone.localtime(moment)
        return format_date(local, "j M" if local.year == timezone.localtime(now).year else "j M Y")
    return f"{duration(gap)} ago" if moment <= now else f"in {duration(gap)}"


@register.filter
def duration(gap: timedelta | None) -> str:
    """Write a span of time in its largest unit: 40 s, 12 min, 3 h, 2 d."""
    if gap is None:
        return NOTHING
    for unit, word in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if gap >= unit:
            return f"{gap // unit} {word}"
    return f"{max(0, int(gap.total_seconds()))} s"


# Jobs


@register.inclusion_tag("components/progress.html")
def progress(job: Job, size: str = "") -> dict[str, Any]:
    """Draw how far a running job is, with the time that is left."""
    left = job.seconds_left
    return {"job": job, "size": size, "left": None if left is None else timedelta(seconds=left)}


@register.inclusion_tag("components/machinery.html")
def machinery() -> dict[str, Any]:
    """Render a warning where no worker or clock is alive."""
    return {"problems": read_machine_health().problems}


@register.filter
def time_taken(job: Job) -> timedelta | None:
    if job.started_at is None:
        return None
    return (job.finished_at or timezone.now()) - job.started_at


# Addresses


@register.inclusion_tag("components/url.html")
def url_cell(url: str, href: str = "", root: str = "") -> dict[str, str]:
    """Show an address cut in the middle, whole under the pointer, copied by a click.

    Addresses on the host of `root` are shown from their path on.
    """
    host = root.partition("://")[0] + "://" + root.partition("://")[2].partition("/")[0] + "/"
    shown = url[len(host) - 1 :] if root and url.startswith(host) else url
    cut = len(shown) - END_OF_URL if len(shown) > 2 * END_OF_URL else len(shown)
    return {"url": url, "href": href, "start": shown[:cut], "end": shown[cut:]}


@register.filter
def breakable(name: str) -> SafeString:
    """Allow a long name to be broken, but only where its words meet.

    >>> breakable("monthlyRentIncludingHeating")
    'monthly<wbr>Rent<wbr>Including<wbr>Heating'
    """
    if len(name) <= MAX_UNBROKEN:
        return format_html("{}", name)
    words = WORDS_MEET.split(name)
    return format_html_join(mark_safe("<wbr>"), "{}", [(word,) for word in words])


@register.filter
def path_of(url: str) -> str:
    """Return what follows the host in an address; the host itself where nothing does."""
    host, _, path = url.partition("://")[2].partition("/")
    return f"/{path}" if path else f"{host}/"


@register.simple_tag(takes_context=True)
def list_part(context: Context, name: str, cursor: str) -> str:
    """Return the query string that leads to another part of a list."""
    query: QueryDict = context["request"].GET.copy()
    query[name] = cursor
    return "?" + query.urlencode()


@register.simple_tag(takes_context=True)
def narrowed(context: Context, name: str, value: str) -> str:
    """Return the query string with one filter changed, from the first part of the list on."""
    query: QueryDict = context["request"].GET.copy()
    query.pop("after", None)
    query.pop(name, None)
    if value:
        query[name] = value
    return "?" + query.urlencode()


@register.inclusion_tag("components/sort_heading.html", takes_context=True)
def sort_heading(context: Context, key: str, word: str, look: str = "") -> dict[str, Any]:
    """Head a column that sorts the list; `look` has the words number, latest, minor and seldom."""
    sort: str = context["sort"]
    direction = {key: "ascending", f"-{key}": "descending"}.get(sort, "")
    prefers_most = "number" in look or "latest" in look
    goes_down = prefers_most if not direction else not sort.startswith("-")
    return {
        "key": key,
        "word": word,
        "direction": direction,
        "href": narrowed(context, "sort", f"-{key}" if goes_down else key),
        "is_number": "number" in look,
        "is_minor": "minor" in look,
        "is_seldom": "seldom" in look,
    }


@register.simple_tag(takes_context=True)
def followed_work(context: Context) -> SafeString:
    """Return where a page asks whether work has ended, and what the answer was when it was drawn.

    Where a job ended just now the answer is left out: the page may have been read before,
    and looks again.
    """
    user, site = context.get("user"), context.get("site")
    # What was posted with its errors is not there when the page is loaded again.
    if not isinstance(user, User) or context["request"].method == "POST":
        return SafeString("")
    visible = Job.objects.visible_to(user)
    query = ""
    if isinstance(site, Site):
        visible = visible.filter(site=site)
        query = f"?site={quote(site.name)}"
    word = visible.progress_word()
    last_end = float(word.partition("-")[2])
    has_just_ended = last_end > (timezone.now() - READ_WITHIN).timestamp()
    return format_html(
        'data-follows="{}{}" data-followed="{}"',
        reverse("work_word"),
        query,
        "" if has_just_ended else word,
    )
