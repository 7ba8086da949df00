"""Routes of rules that somebody wrote: scored on the samples, kept as drafts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from clustering.models import Cluster
from rules.algorithms.by_hand.hand_edits import MAX_XPATHS
from rules.algorithms.by_hand.sandbox import MAX_STYLESHEET, MAX_XPATH
from rules.api.learning.rules import RuleRow
from rules.models import Rule
from rules.services.learning.trial_runs import RULE_CHECK, RULE_SAVE, HandEdit, trial_json, try_edit
from rules.services.review.hand_versions import NewerVersion, keep_version
from rules.services.review.reviewing import MAX_COMMENT_CHARS
from vertex.core.api.endpoints import AtSite, endpoint
from vertex.core.api.errors import Conflict
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body
from vertex.core.models import Role, Scope, Site
from vertex.core.services.people.heavy_work_turns import own_turn
from vertex.core.views.page_reading import reads_pages


class Written(Body):
    """What somebody wrote."""

    cluster = serializers.CharField(max_length=61, help_text="A cluster's name.")
    version = serializers.IntegerField(
        min_value=1,
        required=False,
        help_text="The version that is changed; without one a rule is written anew.",
    )
    stylesheet = serializers.CharField(
        max_length=MAX_STYLESHEET,
        required=False,
        trim_whitespace=False,
        help_text="A whole stylesheet, XSLT 1.0. Either this or `xpaths`.",
    )
    xpaths = serializers.DictField(
        child=serializers.ListField(
            child=serializers.CharField(max_length=MAX_XPATH), max_length=MAX_XPATHS
        ),
        required=False,
        help_text="By attribute the XPaths that find it, of which the first that selects something "
        "serves a page; several values are those of all of them. One may be a CSS selector behind "
        "`css:`. Attributes that are left out stay as they are.",
    )
    whole = serializers.ListField(
        child=serializers.CharField(max_length=63),
        default=list,
        help_text="Attributes whose value is the whole text, where the version takes a part of it.",
    )


class NewDraft(Written):
    """What somebody wrote, to be kept."""

    why = serializers.CharField(
        max_length=MAX_COMMENT_CHARS, help_text="Why the rule is written by hand."
    )
    newest = serializers.IntegerField(
        min_value=0,
        required=False,
        help_text="The newest version that the author knew; where there is a newer one, "
        "the answer is 409.",
    )
    newest_made_at = serializers.DateTimeField(
        required=False,
        help_text="The `made_at` of that version: where it was learnt again since, "
        "the answer is 409, too.",
    )


class WrongValue(serializers.Serializer[Any]):
    """The first page on which it is wrong."""

    url = serializers.CharField()
    expected = serializers.ListField(child=serializers.CharField())
    got = serializers.ListField(child=serializers.CharField())


class ScoreRow(serializers.Serializer[Any]):
    """How it does on one attribute; numbers of samples."""

    attribute = serializers.CharField()
    right = serializers.IntegerField()
    wrong = serializers.IntegerField(help_text="Another value than the editor's.")
    missed = serializers.IntegerField(help_text="Nothing, where the editor marked a value.")
    unwanted = serializers.IntegerField(
        help_text="A value, where the editor said that there is none."
    )
    absent = serializers.IntegerField(help_text="Nothing, where the editor said so.")
    found = serializers.IntegerField(
        help_text="Samples that nobody annotated on which something is found."
    )
    others = serializers.IntegerField(help_text="Samples that nobody annotated.")
    first_wrong = WrongValue(allow_null=True)


class TrialAnswer(serializers.Serializer[Any]):
    """What a rule that somebody wrote comes to on the samples."""

    refused = serializers.CharField(
        help_text="Why it may not run, with the line; blank where it may."
    )
    stopped = serializers.CharField(help_text="On which page it came to its limits, and why.")
    samples = serializers.IntegerField()
    run = serializers.IntegerField(help_text="Samples on which it ran to its end.")
    seconds = serializers.FloatField()
    tells_places = serializers.BooleanField(help_text="Whether it tells where its values stand.")
    attributes = ScoreRow(many=True)


@reads_pages
class RuleChecks(AtSite):
    max_megabytes = 3

    @endpoint(
        "check_rule",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=Written,
        answers=TrialAnswer,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Check a stylesheet or XPaths and score them on a cluster's samples; nothing is stored."""
        cluster, edit = _edit_of(subject, body)
        with own_turn(caller_of(request), RULE_CHECK):
            return trial_json(try_edit(cluster, edit))


@reads_pages
class RuleDrafts(AtSite):
    max_megabytes = 3

    @endpoint(
        "write_rule",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewDraft,
        answers=RuleRow,
        status=201,
        errors=(409,),
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Keep a stylesheet or XPaths as the next version of a cluster's rule, a draft."""
        cluster, edit = _edit_of(subject, body)
        try:
            with own_turn(caller_of(request), RULE_SAVE):
                rule = keep_version(
                    cluster=cluster,
                    edit=edit,
                    why=body["why"],
                    newest=body.get("newest"),
                    newest_made_at=body.get("newest_made_at"),
                    actor=caller_of(request),
                )
        except NewerVersion as newer:
            raise Conflict(str(newer)) from None
        return RuleRow.read(Rule.objects.filter(pk=rule.pk))[0]


def _edit_of(site: Site, body: dict[str, Any]) -> tuple[Cluster, HandEdit]:
    cluster = Cluster.objects.filter(site=site, name=body["cluster"]).select_related("site").first()
    if cluster is None:
        raise ValidationError({"cluster": [f"{site.name} has no cluster “{body['cluster']}”."]})
    if ("stylesheet" in body) == ("xpaths" in body):
        raise ValidationError({"stylesheet": ["Send either a stylesheet or xpaths."]})
    base = None
    if "version" in body:
        rules = Rule.objects.filter(cluster=cluster, version=body["version"])
        base = rules.select_related("cluster").first()
        if base is None:
            raise ValidationError(
                {"version": [f"{cluster.name} has no version {body['version']} of its rule."]}
            )
    xpaths, whole = body.get("xpaths", {}), frozenset(body["whole"])
    return cluster, HandEdit(base, body.get("stylesheet"), xpaths, whole)
