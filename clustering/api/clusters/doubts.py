"""Routes of what a clustering is not sure of, and of people's answers."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, Case, Value, When
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from clustering.models import ClusterAnswer
from clustering.models.doubts import ClusterAnswerQuerySet
from clustering.services.clusters import doubts
from clustering.services.clusters.cluster_answers import holding_answers
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import JobRow, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Job, Role, Scope, Site
from vertex.core.views.page_reading import waits_for_others

READ, WRITE = Scope.PAGES_READ, Scope.PAGES_WRITE
MAX_DOUBT_CHARS = 16


def _urls(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), help_text=help_text)


class DoubtLine(serializers.Serializer[Any]):
    """A decision of a clustering that a person may settle."""

    doubt = serializers.CharField(help_text="Its name, by which it is answered.")
    probability = serializers.FloatField(help_text="That one template made both sets, 0 to 1.")
    joined = serializers.BooleanField(help_text="Whether they are one cluster now.")
    left = _urls("URLs of up to ten pages of one set, the most typical first.")
    right = _urls("The same of the other set.")
    n_left = serializers.IntegerField(help_text="Pages of the one set.")
    n_right = serializers.IntegerField(help_text="Pages of the other set.")
    why = serializers.ListField(
        child=serializers.CharField(), help_text="What speaks for it and against it."
    )


class DoubtList(serializers.Serializer[Any]):
    """The doubts of a clustering; there are at most fifty, so that one page holds them all."""

    results = DoubtLine(many=True)
    next = serializers.URLField(allow_null=True, help_text="Always null.")


class DoubtAnswerRow(RowSerializer):
    class Meta:
        model = ClusterAnswer
        fields = (
            "id",
            "doubt",
            "is_same",
            "left",
            "right",
            "n_left",
            "n_right",
            "probability",
            "was_joined",
            "algorithm",
            "given_by",
            "given_at",
            "undone_at",
            "holds",
        )

    left = _urls("URLs of up to fifty pages of one set.")
    right = _urls("The same of the other set.")
    given_by = serializers.CharField(source="given_by.username", allow_null=True)
    holds = serializers.BooleanField(
        help_text="False where it was undone or a newer answer contradicts it."
    )


class NewAnswer(Body):
    """What a person says of the two sets of a doubt."""

    doubt = serializers.CharField(max_length=MAX_DOUBT_CHARS, help_text="The name of the doubt.")
    is_same = serializers.BooleanField(help_text="One template made both; false: two made them.")


class AnswerOutcome(serializers.Serializer[Any]):
    """What came of an answer, or of undoing one."""

    answer = DoubtAnswerRow()
    overruled = serializers.ListField(
        child=serializers.CharField(),
        help_text="Doubts whose earlier answers it contradicts; they hold no more.",
    )
    job = JobRow(
        allow_null=True,
        help_text="The job that clusters the site again; null where the clusters follow already.",
    )


class Doubts(AtSite):
    @endpoint(
        "list_doubts",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=DoubtList,
        tags=["clusters"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """List the doubts of the current clustering, those most worth a look first."""
        return {"results": list(doubts.doubt_lines(subject)), "next": None}


@waits_for_others
class DoubtAnswers(AtSite):
    @endpoint(
        "list_doubt_answers",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(DoubtAnswerRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List what people answered to doubts about a site's clusters, the newest first."""
        return page_of(
            _answers(subject), row=DoubtAnswerRow, request=request, query=query, newest_first=True
        )

    @endpoint(
        "settle_doubt",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewAnswer,
        answers=AnswerOutcome,
        status=201,
        tags=["clusters"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Settle a doubt of the current clustering; a job clusters the site again by the answer."""
        settled = doubts.settle_doubt(
            site=subject,
            doubt=body["doubt"],
            is_same=body["is_same"],
            actor=caller_of(request),
        )
        outcome = _outcome(settled.answer, settled.job)
        return outcome | {"overruled": [answer.doubt for answer in settled.overruled]}


class AnswerAddress(ApiView):
    def find(self, request: Request, *, name: str, pk: int) -> ClusterAnswer:
        site = visible_site(request, name)
        answers = ClusterAnswer.objects.select_related("site", "given_by")
        answer = answers.filter(site=site, pk=pk).first()
        if answer is None:
            raise NotFound(f"{site.name} has no answer {pk} to a doubt.")
        return answer

    def site_of(self, subject: ClusterAnswer) -> Site:
        return subject.site


@waits_for_others
class UndoAnswer(AnswerAddress):
    @endpoint(
        "undo_doubt_answer",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        answers=AnswerOutcome,
        tags=["clusters"],
    )
    def post(self, request: Request, *, subject: ClusterAnswer, **_: object) -> dict[str, Any]:
        """Undo an answer; those that it overruled hold again."""
        return _outcome(subject, doubts.undo_answer(answer=subject, actor=caller_of(request)))


@waits_for_others
class RedoAnswer(AnswerAddress):
    @endpoint(
        "redo_doubt_answer",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        answers=AnswerOutcome,
        tags=["clusters"],
    )
    def post(self, request: Request, *, subject: ClusterAnswer, **_: object) -> dict[str, Any]:
        """Redo an answer that was undone, at its old position in the order."""
        return _outcome(subject, doubts.redo_answer(answer=subject, actor=caller_of(request)))


def _answers(site: Site) -> ClusterAnswerQuerySet:
    """Return the answers of a site, with whether each of them holds."""
    holding = [answer.pk for answer in holding_answers(site)]
    return ClusterAnswer.objects.filter(site=site).annotate(
        holds=Case(
            When(pk__in=holding, then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        )
    )


def _outcome(answer: ClusterAnswer, job: Job | None) -> dict[str, Any]:
    return {
        "answer": DoubtAnswerRow.read(_answers(answer.site).filter(pk=answer.pk))[0],
        "overruled": [],
        "job": row_of_job(job) if job is not None else None,
    }
