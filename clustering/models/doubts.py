"""What a clustering is not sure of, and what people answered.

A doubt belongs to one clustering. An answer belongs to the site and names pages by their URLs, so
that it holds for every later clustering, whatever becomes of the doubt, of snapshots and of the
ids of pages.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone

from clustering.models.clusterings import Clustering
from vertex.core.models.sites import Site


class ClusterAnswerQuerySet(models.QuerySet["ClusterAnswer"]):
    def not_undone(self) -> ClusterAnswerQuerySet:
        """Return the answers that nobody took back, in the order in which they were given."""
        return self.filter(undone_at=None).order_by("id")


class ClusterAnswer(models.Model):
    """What a person says of two sets of pages of a site: that one template made both, or two."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="cluster_answers", db_index=False
    )
    doubt = models.CharField(max_length=16)  # the name of the doubt that was answered
    left = models.JSONField()  # URLs, the most typical first
    right = models.JSONField()
    n_left = models.PositiveIntegerField()  # pages that the doubt was about
    n_right = models.PositiveIntegerField()
    is_same = models.BooleanField()
    # What the algorithm held before.
    algorithm = models.CharField(max_length=40)
    probability = models.FloatField()
    was_joined = models.BooleanField()
    given_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    given_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = ClusterAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "doubt"],
                condition=models.Q(undone_at=None),
                name="one_answer_in_force_per_doubt",
            )
        ]
        indexes = [models.Index(fields=["site", "-id"], name="cluster_answer_by_site")]

    def __str__(self) -> str:
        return self.doubt

    @property
    def verdict(self) -> str:
        return "same" if self.is_same else "different"


class ClusterDoubtQuerySet(models.QuerySet["ClusterDoubt"]):
    def unanswered(self) -> ClusterDoubtQuerySet:
        """Return the doubts to which nobody gave an answer that is in force."""
        answers = ClusterAnswer.objects.filter(
            site=OuterRef("clustering__site"), doubt=OuterRef("doubt"), undone_at=None
        )
        return self.exclude(Exists(answers))

    def current(self, site: Site) -> ClusterDoubtQuerySet:
        """Return what the clustering that a site works with is not sure of."""
        return self.filter(clustering__site=site, clustering__is_current=True)


class ClusterDoubt(models.Model):
    """A decision of a clustering that may be wrong: two sets of pages it joined or kept apart."""

    clustering = models.ForeignKey(
        Clustering, on_delete=models.CASCADE, related_name="doubts", db_index=False
    )
    # Its public name, which the same two sets of pages have in every clustering.
    doubt = models.CharField(max_length=16)
    rank = models.PositiveIntegerField()  # from 0, which is most worth a look
    left = models.JSONField()  # ids of pages, the most typical first
    right = models.JSONField()
    n_left = models.PositiveIntegerField()  # pages, of which the first ones are stored
    n_right = models.PositiveIntegerField()
    probability = models.FloatField()  # that one template made both
    is_joined = models.BooleanField()
    why = models.JSONField(default=list)  # sentences

    objects = ClusterDoubtQuerySet.as_manager()

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(
                fields=["clustering", "doubt"], name="doubt_once_per_clustering"
            )
        ]
        indexes = [models.Index(fields=["clustering", "rank"], name="doubt_by_rank")]

    def __str__(self) -> str:
        return self.doubt
