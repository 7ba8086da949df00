"""What algorithms made of a site's pages, and what people changed about it.

A cluster lives as long as its site: each clustering finds it again by the pages that it shares with
the one before, so that its name, its vertical, its rules and what people changed about it stay.
What one clustering knows of a cluster are its figures; which pages it put there are memberships.
"""

from __future__ import annotations

from http import HTTPStatus

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from clustering.algorithms.kinds import kind_names
from clustering.models.pages import Page, Snapshot
from vertex.core.models.people import User
from vertex.core.models.sites import Site

CLUSTER_NAME = RegexValidator(
    r"^[a-z0-9][a-z0-9-]{0,60}\Z",
    "Use 1 to 61 small letters, digits and hyphens, beginning with a letter or digit.",
)


class ClusteringQuerySet(models.QuerySet["Clustering"]):
    def current(self) -> ClusteringQuerySet:
        """Return the clusterings that sites work with, at most one each."""
        return self.filter(is_current=True)

    def visible_to(self, user: User) -> ClusteringQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))

    def without_model(self) -> ClusteringQuerySet:
        """Leave out what only an assignment of pages needs; it may be large."""
        return self.defer("model", "map")


class Clustering(models.Model):
    """What one algorithm made of a site's pages at one time."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="clusterings", db_index=False
    )
    algorithm = models.CharField(max_length=40)
    params = models.JSONField(default=dict)  # of the run: sample size, seed
    # Of the algorithm, by name; one that is not here has its default.
    parameters = models.JSONField(default=dict)
    why = models.TextField(blank=True)  # on what evidence it was decided, in one sentence
    # How many pages, links, clicks there were, and of what kind.
    evidence = models.JSONField(default=dict)
    measures = models.JSONField(default=dict)  # coverage, cohesion
    model = models.JSONField(default=dict)  # what assigns a later page
    answers = models.JSONField(default=list)  # ids of people's answers that it follows
    map = models.JSONField(default=list)  # [page, x, y] of some pages, from 0 to 1
    is_current = models.BooleanField(default=False)
    n_pages = models.PositiveIntegerField(default=0)
    n_sampled = models.PositiveIntegerField(default=0)  # pages that the algorithm grouped itself
    n_unassigned = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(
        "core.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    assigned_at = models.DateTimeField(default=timezone.now)  # when new pages were last looked for

    objects = ClusteringQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["site"],
                condition=Q(is_current=True),
                name="one_current_clustering_per_site",
            )
        ]
        indexes = [models.Index(fields=["site", "-id"], name="clustering_by_site")]

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.made_at:%Y-%m-%d %H:%M}"


class ClusterKind(models.TextChoices):
    """What the pages of a cluster are for."""

    DETAIL = kind_names.DETAIL, "Detail"
    LIST = kind_names.LIST, "List"
    NAVIGATION = kind_names.NAVIGATION, "Navigation"
    SEARCH = kind_names.SEARCH, "Search"
    ERROR = kind_names.ERROR, "Error"
    LOGIN = kind_names.LOGIN, "Log-in"
    OTHER = kind_names.OTHER, "Other"


class Annotating(models.TextChoices):
    """What a person says of annotating a cluster."""

    WANTED = "wanted", "Wanted"
    DISMISSED = "dismissed", "Dismissed"


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def present(self) -> ClusterQuerySet:
        """Return the clusters that have pages in their site's current clustering."""
        return self.filter(figures__clustering__is_current=True, figures__n_pages__gt=0)

    def visible_to(self, user: User) -> ClusterQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class Cluster(models.Model):
    """Pages of a site that one template makes; their name stays from clustering to clustering."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="clusters", db_index=False
    )
    name = models.CharField(max_length=61, validators=[CLUSTER_NAME])
    title = models.CharField(max_length=200)
    # Given by a person: no clustering changes it.
    has_own_title = models.BooleanField(default=False)
    own_kind = models.CharField(max_length=10, choices=ClusterKind, blank=True)
    # Whether a person wants it annotated, or not; blank where the kind decides.
    annotating = models.CharField(max_length=10, choices=Annotating, blank=True)
    # Who annotates it, so that no two people begin with the same; null where nobody said so.
    annotator = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # A browser fetches its pages: they show something only after their scripts ran.
    is_rendered = models.BooleanField(default=False)
    # No algorithm finds it; it lives by changes alone.
    is_hand_made = models.BooleanField(default=False)
    made_at = models.DateTimeField(default=timezone.now)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["site", "name"], name="cluster_name_once_per_site")
        ]

    def __str__(self) -> str:
        return self.name


class ClusterFiguresQuerySet(models.QuerySet["ClusterFigures"]):
    def current(self) -> ClusterFiguresQuerySet:
        """Return the figures in the clusterings that sites work with."""
        return self.filter(clustering__is_current=True)

    def of_kind(self, kind: str) -> ClusterFiguresQuerySet:
        """Return those of a kind: the one that a person gave, else the one that was found."""
        return self.filter(Q(cluster__own_kind=kind) | Q(cluster__own_kind="", kind=kind))

    def with_pages(self) -> ClusterFiguresQuerySet:
        """Leave out the clusters that have no pages."""
        return self.filter(n_pages__gt=0)

    def worth_annotating(self) -> ClusterFiguresQuerySet:
        """Return those to be annotated, as a person said or else as their kind has it."""
        wanted = Q(cluster__annotating=Annotating.WANTED)
        detail = Q(cluster__own_kind=ClusterKind.DETAIL)
        unknown_or_detail = Q(cluster__own_kind="", kind__in=["", ClusterKind.DETAIL])
        return self.filter(wanted | Q(cluster__annotating="") & (detail | unknown_or_detail))


class ClusterFigures(models.Model):
    """What one clustering knows of a cluster."""

    clustering = models.ForeignKey(
        Clustering, on_delete=models.CASCADE, related_name="figures", db_index=False
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="figures")
    # The algorithm's own name, which its model answers.
    group = models.CharField(max_length=100, blank=True)
    n_pages = models.PositiveIntegerField(default=0)
    signature = models.CharField(max_length=40, blank=True)  # eight bytes, "*" for one that varies
    importance = models.FloatField(default=0.0)
    url_pattern = models.TextField(blank=True)
    # Mean likeness of its pages to its centre, 0 to 1.
    cohesion = models.FloatField(null=True, blank=True)
    # What its pages are for, as the algorithm of `kinds` sees it; blank in clusterings of before.
    kind = models.CharField(max_length=10, choices=ClusterKind, blank=True)
    certainty = models.FloatField(null=True, blank=True)  # of the kind, 0 to 1
    why = models.TextField(blank=True)
    examples = models.JSONField(default=list)  # pages that show what it is, the most typical first

    objects = ClusterFiguresQuerySet.as_manager()

    class Meta:
        ordering = ["-n_pages", "cluster__name"]
        constraints = [
            models.UniqueConstraint(
                fields=["clustering", "cluster"], name="figures_once_per_clustering"
            )
        ]


class ClusterLayout(models.Model):
    """Pages that a clustering found in one cluster and that look alike."""

    clustering = models.ForeignKey(
        Clustering, on_delete=models.CASCADE, related_name="layouts", db_index=False
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="layouts")
    name = models.CharField(max_length=100)  # the algorithm's own
    # In words: what its pages have and others of the cluster lack, and the other way round.
    has = models.JSONField(default=list)
    lacks = models.JSONField(default=list)
    # The page that shows how it looks; none where that page is gone.
    example = models.ForeignKey(
        Page, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["clustering", "cluster", "name"], name="layout_once_per_cluster"
            )
        ]

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["PageMembership"]):
    def current(self) -> MembershipQuerySet:
        """Return the memberships in the clusterings that sites work with."""
        return self.filter(clustering__is_current=True)

    def of_cluster(self, cluster: Cluster | int) -> MembershipQuerySet:
        """Return the pages that a cluster has in its site's current clustering."""
        return self.current().filter(cluster=cluster)

    def of_site(self, site: Site) -> MembershipQuerySet:
        """Return the pages that are in a cluster in a site's current clustering."""
        return self.current().filter(clustering__site=site, cluster__isnull=False)

    def learnable(self) -> MembershipQuerySet:
        """Return those whose latest snapshot can be learnt from: untruncated, and no error."""
        return self.filter(
            page__latest_snapshot__problem=Snapshot.Problem.NONE,
            page__latest_snapshot__status__lt=HTTPStatus.BAD_REQUEST,
        )

    def cluster_of(self, page_id: int) -> Cluster | None:
        """Return the cluster in which a page is; None where it is in none."""
        membership = self.filter(page=page_id).select_related("cluster").first()
        return membership.cluster if membership else None

    def moved_by_hand(self) -> MembershipQuerySet:
        """Return those that people put into another cluster than the algorithm."""
        return self.exclude(cluster=F("found")) | self.filter(found=None, cluster__isnull=False)


class PageMembership(models.Model):
    """Where a clustering put a page."""

    clustering = models.ForeignKey(
        Clustering, on_delete=models.CASCADE, related_name="memberships", db_index=False
    )
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="memberships")
    # What the algorithm found; None where it put the page nowhere.
    found = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    # Where the page is, after what people changed.
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships"
    )
    # How it looks in the cluster in which it was found; None where all pages of it look alike.
    layout = models.ForeignKey(
        ClusterLayout,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="memberships",
        db_index=False,
    )
    distance = models.FloatField(null=True, blank=True)  # from the cluster's centre, 0 to 1
    # The one that it was judged by.
    snapshot_seen = models.PositiveBigIntegerField(null=True, blank=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["clustering", "page"], name="page_once_per_clustering")
        ]
        indexes = [
            models.Index(fields=["clustering", "cluster", "page"], name="membership_by_cluster"),
            models.Index(
                fields=["clustering", "cluster", "distance"], name="membership_by_distance"
            ),
            models.Index(
                fields=["layout"], condition=Q(layout__isnull=False), name="membership_by_layout"
            ),
        ]


class ClusterChangeQuerySet(models.QuerySet["ClusterChange"]):
    def in_force(self) -> ClusterChangeQuerySet:
        """Return the changes that were not undone, in the order in which they were made."""
        return self.filter(undone_at=None).order_by("id")

    def without_detail(self) -> ClusterChangeQuerySet:
        """Leave the pages out, often many: `n_pages` and `groups` count them and their parts."""
        n_pages, groups = KeyTransform("n_pages", "detail"), KeyTransform("groups", "detail")
        return self.defer("detail").annotate(n_pages=n_pages, groups=groups)


class ClusterChange(models.Model):
    """Something that a person changed about a site's clusters; each later clustering repeats it."""

    class Kind(models.TextChoices):
        MOVE = "move", "Move pages"  # {"pages": [page, …]} to `cluster`
        MERGE = "merge", "Merge"  # `cluster` into `into`
        # {"parts": {cluster: [page, …]}, "model": …, "groups": {group: cluster}}
        SPLIT = "split", "Split"

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="cluster_changes", db_index=False
    )
    kind = models.CharField(max_length=10, choices=Kind)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="changes")
    into = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    detail = models.JSONField(default=dict)
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = ClusterChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["site", "-id"], name="cluster_change_by_site")]


class ClusterReview(models.Model):
    """A person's verdict on a cluster, by some of its pages."""

    class Verdict(models.TextChoices):
        ONE_TYPE = "one_type", "One type"
        MIXED = "mixed", "Several types"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="reviews")
    clustering = models.ForeignKey(Clustering, on_delete=models.CASCADE, related_name="reviews")
    verdict = models.CharField(max_length=10, choices=Verdict)
    pages = models.JSONField(default=list)  # those that were shown
    # Those of them that the person marked as another type.
    strangers = models.JSONField(default=list)
    comment = models.TextField(blank=True)
    given_at = models.DateTimeField(default=timezone.now)
    given_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
