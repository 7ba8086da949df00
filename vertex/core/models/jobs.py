"""Work as rows: the database is the truth, the broker only rings; and refusals on the way."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from vertex.core.models.people import Role, User
from vertex.core.models.search import has_words
from vertex.core.models.sites import Site

# No job is put off for longer: one that waits for more was put off before the clock was set back.
LONGEST_DELAY = timedelta(hours=2)
# Only administrators ask for these.
TASKS_OF_ADMINISTRATORS = frozenset({"clustering.delete_site", "vertex.import_site"})


def is_due(now: datetime) -> Q:
    """Return the condition that a waiting job may be taken up."""
    return Q(due_at__lte=now) | Q(due_at__gt=now + LONGEST_DELAY)


class JobQuerySet(models.QuerySet["Job"]):
    def unfinished(self) -> JobQuerySet:
        return self.filter(state__in=[Job.State.DUE, Job.State.RUNNING])

    def finished(self) -> JobQuerySet:
        return self.exclude(state__in=[Job.State.DUE, Job.State.RUNNING])

    def progress_word(self) -> str:
        """Return a word that changes whenever one of the jobs begins to wait, or ends.

        It begins with the number of those that have not ended.
        """
        # Two questions, each answered by an index: every open page asks once a second.
        n_unfinished = self.unfinished().count()
        last_end = self.aggregate(last_end=Max("finished_at"))["last_end"]
        return f"{n_unfinished}-{last_end.timestamp() if last_end else 0}"

    def failed_last(self) -> JobQuerySet:
        """Return the failed jobs after which no other job of their site has finished."""
        later = Job.objects.finished().filter(site=OuterRef("site"), pk__gt=OuterRef("pk"))
        return self.filter(state=Job.State.FAILED).exclude(Exists(later))

    def due(self, now: datetime) -> JobQuerySet:
        return self.filter(is_due(now), state=Job.State.DUE)

    def overdue(self, now: datetime, by: timedelta) -> JobQuerySet:
        """Return the jobs that somebody should have worked on for this long, and nobody does."""
        waiting = Q(state=Job.State.DUE, due_at__lt=now - by)
        left = Q(state=Job.State.RUNNING, leased_until__lt=now - by)
        return self.filter(waiting | left)

    def visible_to(self, user: User) -> JobQuerySet:
        """Return the jobs of the user's sites; those of no site need a role everywhere."""
        if not user.is_active:
            return self.none()
        if user.sees_all_sites():
            return self
        return self.filter(site__memberships__user=user)

    def matching(self, text: str) -> JobQuerySet:
        """Return those whose title, message or error contains each of the words."""
        return self.filter(has_words(text, "title", "message", "error"))


class Job(models.Model):
    """A piece of work that one worker at a time holds by a lease."""

    class State(models.TextChoices):
        DUE = "due", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    class Queue(models.TextChoices):
        FETCH = "fetch", "Fetch"
        LEARN = "learn", "Learn"
        EXTRACT = "extract", "Extract"
        CHECK = "check", "Check"
        KEEP = "keep", "Keep"  # imports, exports, deletions, sweeping

    task = models.CharField(max_length=100)  # the Celery task that does it
    queue = models.CharField(max_length=10, choices=Queue)
    site = models.ForeignKey(
        "core.Site", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    title = models.CharField(max_length=200)  # "Crawl alpine-shop"
    params = models.JSONField(default=dict)
    key = models.CharField(max_length=200, blank=True)  # only one unfinished job of a key
    state = models.CharField(max_length=10, choices=State, default=State.DUE)
    due_at = models.DateTimeField(default=timezone.now)
    # The last ring that nobody has answered yet.
    rung_at = models.DateTimeField(null=True, blank=True)
    n_done = models.PositiveBigIntegerField(default=0)
    n_done_before = models.PositiveBigIntegerField(default=0)  # when the present worker took over
    n_total = models.PositiveBigIntegerField(null=True, blank=True)
    message = models.CharField(max_length=300, blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    n_tries = models.PositiveSmallIntegerField(default=0)  # since the last progress
    # When it first found a host taken by others, since the last progress.
    waits_since = models.DateTimeField(null=True, blank=True)
    max_tries = models.PositiveSmallIntegerField(default=5)
    # A random word of the worker that holds the job.
    lease = models.CharField(max_length=64, blank=True)
    leased_by = models.CharField(max_length=200, blank=True)  # the process: see services.processes
    leased_until = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)  # by the present or last worker
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=["due", "running"]) & ~Q(key=""),
                name="one_unfinished_job_per_key",
            ),
            models.CheckConstraint(
                condition=~Q(state="running") | (Q(leased_until__isnull=False) & ~Q(lease="")),
                name="running_job_has_lease",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "due_at"], name="job_by_state"),
            models.Index(fields=["finished_at"], name="job_by_end"),
            models.Index(fields=["site", "-id"], name="job_by_site"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}

    @property
    def needed_role(self) -> Role:
        """Return whose it is to stop it and to try it again: never less than to ask for it."""
        return Role.ADMINISTRATOR if self.task in TASKS_OF_ADMINISTRATORS else Role.OPERATOR

    @property
    def is_postponed(self) -> bool:
        """Return whether it is due only later."""
        return self.state == self.State.DUE and self.due_at > timezone.now()

    @property
    def rate(self) -> float | None:
        """Return the steps a second of the present worker; None before its first step."""
        end = self.finished_at or timezone.now()
        if self.claimed_at is None or self.n_done <= self.n_done_before or end <= self.claimed_at:
            return None
        return (self.n_done - self.n_done_before) / (end - self.claimed_at).total_seconds()

    @property
    def seconds_left(self) -> int | None:
        """Return the remaining time at the present rate; None where it cannot be told."""
        if self.state != self.State.RUNNING or self.n_total is None or not self.rate:
            return None
        return round(max(0, self.n_total - self.n_done) / self.rate)


class Heartbeat(models.Model):
    """The last sign of life of the clock or of a queue's workers."""

    name = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class RefusalQuerySet(models.QuerySet["Refusal"]):
    def visible_to(self, user: User) -> RefusalQuerySet:
        """Return the refusals at the sites and in the jobs that the user may see."""
        if user.is_active and user.sees_all_sites():
            return self
        jobs = Job.objects.visible_to(user)
        sites = Site.objects.visible_to(user)
        return self.filter(Q(site__in=sites) | Q(site=None, job__in=jobs))

    def matching(self, text: str) -> RefusalQuerySet:
        """Return those whose subject or reason contains each of the words."""
        return self.filter(has_words(text, "subject", "reason"))


class Refusal(models.Model):
    """Something that was not taken, with the reason: a line, a page, an address, a limit."""

    site = models.ForeignKey(
        Site, null=True, blank=True, on_delete=models.CASCADE, related_name="refusals"
    )
    job = models.ForeignKey(
        "core.Job", null=True, blank=True, on_delete=models.CASCADE, related_name="refusals"
    )
    subject = models.TextField()  # URL, or file and line
    # A word to group by, such as robots, too_large, bad_line.
    code = models.CharField(max_length=40)
    reason = models.CharField(max_length=500)
    refused_at = models.DateTimeField(default=timezone.now)

    objects = RefusalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(code=""), name="refusal_has_code"),
        ]
        indexes = [models.Index(fields=["site", "-id"], name="refusal_by_site")]
