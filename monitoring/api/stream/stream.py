"""Routes of the stream of a site: how fresh its records are to be, and the steps of the chain."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from clustering.models import Cluster
from monitoring.models import FreshnessGoal
from monitoring.models.stream import MAX_GOAL_HOURS, MAX_REQUESTS_PER_DAY
from monitoring.services.stream.chain import CHAIN, pause_step
from monitoring.services.stream.goals import choose_goal
from monitoring.services.stream.stream_figures import (
    StepState,
    goals_of,
    step_states,
    streams_of,
)
from vertex.core.api.endpoints import AtSite, endpoint
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, RowSerializer
from vertex.core.models import Role, Scope, Site

READ, WRITE = Scope.RECORDS_READ, Scope.SITES_WRITE
TAGS = ["monitoring"]
PAUSABLE = [step.key for step in CHAIN if step.start is not None]


class FreshnessGoalRow(RowSerializer):
    class Meta:
        model = FreshnessGoal
        fields = (
            "cluster",
            "goal_hours",
            "requests_per_day",
            "n_pages",
            "reached_share",
            "expected_requests",
            "n_requests",
            "n_saved",
            "planned_at",
            "changed_at",
        )

    cluster = serializers.CharField(source="cluster.name")
    reached_share = serializers.FloatField(
        help_text="Of the records, expected not to be stale for longer than the goal."
    )
    expected_requests = serializers.FloatField(help_text="A day.")
    n_saved = serializers.IntegerField(
        help_text="Requests, against a visit of each page once a goal."
    )


class StreamAnswer(serializers.Serializer[Any]):
    """How fresh the records of a site are, by measured change rates."""

    site = serializers.CharField()
    goal_hours = serializers.IntegerField(
        allow_null=True, help_text="The shortest of its clusters; null where nothing is planned."
    )
    reached_share = serializers.FloatField(allow_null=True, help_text="Of the records, expected.")
    requests = serializers.IntegerField()
    requests_saved = serializers.IntegerField()
    next_visit_at = serializers.DateTimeField(allow_null=True)
    planned_at = serializers.DateTimeField(allow_null=True, help_text="When this was reckoned.")
    clusters = FreshnessGoalRow(many=True)


class NewGoal(Body):
    """For how long records of a cluster may be stale, and for how many requests."""

    cluster = serializers.CharField(max_length=61, help_text="A cluster's name.")
    goal_hours = serializers.IntegerField(min_value=1, max_value=MAX_GOAL_HOURS)
    requests_per_day = serializers.IntegerField(
        min_value=1,
        max_value=MAX_REQUESTS_PER_DAY,
        allow_null=True,
        default=None,
        help_text="Null: as many as the goal takes.",
    )


class StepRow(serializers.Serializer[Any]):
    """A step of the chain at a site."""

    step = serializers.CharField()
    title = serializers.CharField()
    condition = serializers.CharField(help_text="When the machine begins it.")
    follower = serializers.CharField(help_text="The step that goes on.")
    is_pausable = serializers.BooleanField(help_text="False where a person does it.")
    state = serializers.CharField(
        help_text="paused, off (no schedule), running, waiting, failed, done, person or idle."
    )
    job = serializers.IntegerField(allow_null=True, help_text="The last that did it.")
    since = serializers.DateTimeField(allow_null=True)


class ChainAnswer(serializers.Serializer[Any]):
    """The steps of the chain, in their order."""

    steps = StepRow(many=True)


class PausedStep(Body):
    """A step that is paused, or goes on."""

    step = serializers.ChoiceField(choices=PAUSABLE)
    is_paused = serializers.BooleanField()


class SiteStreamView(AtSite):
    @endpoint(
        "read_stream", scope=READ, needs=(Role.VIEWER, "there"), answers=StreamAnswer, tags=TAGS
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show how fresh the records of a site are, and when its pages are visited next."""
        return _stream(subject)

    @endpoint(
        "choose_freshness_goal",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewGoal,
        answers=StreamAnswer,
        tags=TAGS,
    )
    def put(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Choose how long records of a cluster may be stale, and for how many requests a day."""
        name = body.pop("cluster")
        cluster = Cluster.objects.filter(site=subject, name=name).first()
        if cluster is None:
            raise NotFound(f"{subject.name} has no cluster {name!r}.")
        choose_goal(cluster=cluster, actor=caller_of(request), **body)
        return _stream(subject)


class SiteChainView(AtSite):
    @endpoint(
        "read_chain", scope=READ, needs=(Role.VIEWER, "there"), answers=ChainAnswer, tags=TAGS
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show the steps from pages to checked records, and how each stands."""
        return {"steps": [_step(state) for state in step_states(subject)]}

    @endpoint(
        "pause_step",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=PausedStep,
        answers=ChainAnswer,
        tags=TAGS,
    )
    def put(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Pause a step, or let it go on; jobs that are under way come to their end."""
        pause_step(site=subject, actor=caller_of(request), **body)
        return {"steps": [_step(state) for state in step_states(subject)]}


def _stream(site: Site) -> dict[str, Any]:
    stream = streams_of([site.pk]).get(site.pk)
    pks = [goal.pk for goal in goals_of(site)]
    return {
        "site": site.name,
        "goal_hours": stream.goal_hours if stream else None,
        "reached_share": stream.reached_share if stream else None,
        "requests": stream.n_requests if stream else 0,
        "requests_saved": stream.n_saved if stream else 0,
        "next_visit_at": stream.next_at if stream else None,
        "planned_at": stream.planned_at if stream else None,
        "clusters": FreshnessGoalRow.read(FreshnessGoal.objects.filter(pk__in=pks)),
    }


def _step(state: StepState) -> dict[str, Any]:
    return {
        "step": state.step.key,
        "title": state.step.title,
        "condition": state.step.condition,
        "follower": state.step.follower,
        "is_pausable": state.step.start is not None,
        "state": state.key,
        "job": state.job.pk if state.job else None,
        "since": state.since,
    }
