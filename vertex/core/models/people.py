"""People and services, what they may do and what they did."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Prefetch, Q
from django.db.models.functions import Upper
from django.utils import timezone

from vertex.core.models.search import has_words
from vertex.core.models.sites import Site


class Role(models.TextChoices):
    """What a person may do; each role includes those before it."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    REVIEWER = "reviewer", "Reviewer"
    OPERATOR = "operator", "Operator"
    ADMINISTRATOR = "administrator", "Administrator"

    def and_higher(self) -> list[str]:
        """Return this role and those that include it."""
        return Role.values[Role.values.index(self) :]


class Scope(models.TextChoices):
    """What a token may be used for; it never does more than its user's role allows."""

    SITES_READ = "sites:read", "List sites and read their settings"
    SITES_WRITE = "sites:write", "Add sites, change their settings and how they are watched"
    PAGES_READ = "pages:read", "Read pages, snapshots, links and clusters"
    PAGES_WRITE = "pages:write", "Import, crawl and cluster pages"
    JOBS_READ = "jobs:read", "Follow jobs and their progress"
    JOBS_WRITE = "jobs:write", "Cancel and retry jobs"
    VERTICALS_READ = "verticals:read", "Read verticals, samples, annotations and comments"
    VERTICALS_WRITE = "verticals:write", "Change verticals, annotate, learn, publish and run rules"
    RECORDS_READ = "records:read", "Pull records, read rules, checks and alerts"
    AUDIT_READ = "audit:read", "Read who changed what"

    @classmethod
    def reading(cls) -> list[str]:
        """Return the scopes that change nothing."""
        return [scope for scope in cls.values if scope.endswith(":read")]


class UserQuerySet(models.QuerySet["User"]):
    def open(self) -> UserQuerySet:
        return self.filter(is_active=True)

    def administrators(self) -> UserQuerySet:
        """Return the open accounts that are administrators everywhere: they can add others."""
        everywhere = Membership.objects.filter(site__isnull=True, role=Role.ADMINISTRATOR)
        return self.open().filter(
            Q(is_superuser=True) | Q(pk__in=everywhere.values("user")), is_service=False
        )

    def who_may(self, role: Role, site: Site) -> UserQuerySet:
        """Return the people with an open account who hold this role or a higher one at a site."""
        here = Membership.objects.filter(Q(site__isnull=True) | Q(site=site))
        holders = here.filter(role__in=role.and_higher()).values("user")
        return self.open().filter(Q(is_superuser=True) | Q(pk__in=holders), is_service=False)

    def listed(self, state: str) -> UserQuerySet:
        """Return the accounts of a state: open (the default), services, closed or all."""
        conditions = {
            "services": Q(is_service=True, is_active=True),
            "closed": Q(is_active=False),
            "all": Q(),
        }
        return self.filter(conditions.get(state, Q(is_active=True)))

    def with_roles(self) -> UserQuerySet:
        """Fetch the memberships along, the one for all sites first, then by site."""
        by_site = Membership.objects.select_related("site").order_by(
            F("site__name").asc(nulls_first=True)
        )
        return self.prefetch_related(Prefetch("memberships", by_site))

    def matching(self, text: str) -> UserQuerySet:
        """Return those whose name or address contains each of the words."""
        return self.filter(has_words(text, "username", "first_name", "last_name", "email"))


class Users(UserManager["User"].from_queryset(UserQuerySet)):  # type: ignore[misc]  # a class made at run time
    def get_by_natural_key(self, username: str | None) -> User:
        """Find a user as typed: Anna and anna are one person."""
        user: User = self.get(username__iexact=username)
        return user


class User(AbstractUser):
    """A person, or a service that only holds tokens. Accounts are closed, never deleted."""

    time_zone = models.CharField(max_length=50, blank=True)  # blank: the installation's
    is_service = models.BooleanField(default=False)
    must_change_password = models.BooleanField(default=False)
    # An administrator entered the e-mail address: single sign-on may find the person by it.
    has_vouched_email = models.BooleanField(default=False)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[Users] = Users()

    class Meta(AbstractUser.Meta):
        ordering = ["username"]
        constraints = [
            models.UniqueConstraint(Upper("username"), name="username_once_in_any_case"),
            models.CheckConstraint(
                condition=Q(is_active=True, closed_at__isnull=True)
                | Q(is_active=False, closed_at__isnull=False),
                name="closed_user_has_time",
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def sees_all_sites(self) -> bool:
        """Return whether the user has a role everywhere."""
        return self.is_superuser or self.memberships.filter(site__isnull=True).exists()

    def has_role(self, role: Role, site: Site | None = None) -> bool:
        """Return whether the user holds this role or a higher one, at the site or everywhere."""
        if not self.is_active:
            return False
        if self.is_superuser:
            return True
        place = Q(site__isnull=True) if site is None else Q(site__isnull=True) | Q(site=site)
        return self.memberships.filter(place, role__in=role.and_higher()).exists()

    def has_role_anywhere(self, role: Role) -> bool:
        """Return whether the user holds this role or a higher one, everywhere or at some site."""
        if not self.is_active:
            return False
        return self.is_superuser or self.memberships.filter(role__in=role.and_higher()).exists()


def reach_of_role(site: Site | None) -> str:
    """Return where a role counts, in words: at one site or, without one, everywhere."""
    return f"at {site.name}" if site else "for all sites"


class Membership(models.Model):
    """A role of a user, at one site or everywhere."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    # Null: all sites.
    site = models.ForeignKey(
        "core.Site", null=True, blank=True, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=15, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "site"], name="one_role_per_site"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(site__isnull=True), name="one_role_everywhere"
            ),
        ]

    @property
    def reach(self) -> str:
        return reach_of_role(self.site)


class TokenQuerySet(models.QuerySet["Token"]):
    def usable(self, now: datetime) -> TokenQuerySet:
        """Return those that open the API: neither revoked nor expired, of an open account."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=now, user__is_active=True)


class Token(models.Model):
    """A key for the API: only its hash is kept, and it expires."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)  # shown so that a token can be recognised
    key_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    def has_scope(self, scope: str) -> bool:
        return scope in self.scopes


class LogInAttempt(models.Model):
    """A failed log-in, counted to slow down guessing."""

    # As typed, in lower case; there may be no such user.
    username = models.CharField(max_length=150)
    address = models.CharField(max_length=45, blank=True)
    # A browser in which this user logged in before.
    device = models.CharField(max_length=32, blank=True)
    # The password was right, and the code after it wrong.
    is_second_step = models.BooleanField(default=False)
    attempted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["username", "attempted_at"], name="attempt_by_username"),
            models.Index(fields=["address", "attempted_at"], name="attempt_by_address"),
            models.Index(fields=["attempted_at"], name="attempt_by_time"),
        ]


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def visible_to(self, user: User) -> AuditQuerySet:
        """Return what an administrator may see: all, or the rows of the sites administered."""
        if user.has_role(Role.ADMINISTRATOR):
            return self
        if not user.is_active:
            return self.none()
        administered = user.memberships.filter(role=Role.ADMINISTRATOR, site__isnull=False)
        return self.filter(site__in=administered.values("site"))

    def actions(self) -> list[str]:
        """Return the kinds of change that occur."""
        return list(self.order_by("action").values_list("action", flat=True).distinct())

    def matching(self, text: str) -> AuditQuerySet:
        """Return those that contain each of the words."""
        entries = self
        for word in text.split():
            in_texts = has_words(word, "actor_name", "action", "subject", "site__name")
            entries = entries.filter(in_texts | Q(request_id=word))
        return entries


class AuditEntry(models.Model):
    """Who changed what; it outlives both."""

    actor = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    actor_name = models.CharField(max_length=150)  # "command line" where nobody was logged in
    # noun.verb: site.created.
    action = models.CharField(max_length=60, validators=[RegexValidator(r"^[a-z_]+\.[a-z_]+$")])
    subject = models.CharField(max_length=300)  # what it was done to, in words
    site = models.ForeignKey(
        "core.Site", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    detail = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(default=timezone.now)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["site", "-id"], name="audit_by_site"),
            models.Index(fields=["actor_name", "-id"], name="audit_by_actor"),
            models.Index(fields=["action", "-id"], name="audit_by_action"),
        ]
