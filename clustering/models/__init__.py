"""Sites and their pages, clusterings, jobs, people."""

from clustering.models.assets import Asset, Look
from clustering.models.clusterings import (
    Cluster,
    ClusterChange,
    Clustering,
    ClusterVerdict,
    Extent,
    PageMembership,
)
from clustering.models.jobs import Heartbeat, Job
from clustering.models.people import AuditEntry, LogInAttempt, Membership, Role, Scope, Token, User
from clustering.models.sites import Host, Link, Page, Refusal, SearchClick, Site, Snapshot

__all__ = [
    "Asset",
    "AuditEntry",
    "Cluster",
    "ClusterChange",
    "ClusterVerdict",
    "Clustering",
    "Extent",
    "Heartbeat",
    "Host",
    "Job",
    "Link",
    "LogInAttempt",
    "Look",
    "Membership",
    "Page",
    "PageMembership",
    "Refusal",
    "Role",
    "Scope",
    "SearchClick",
    "Site",
    "Snapshot",
    "Token",
    "User",
]
