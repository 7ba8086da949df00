"""Pages and what they are drawn with; clusterings and clusters."""

from clustering.models.assets import Asset, Look
from clustering.models.clusterings import (
    Cluster,
    ClusterChange,
    Clustering,
    ClusterVerdict,
    Extent,
    PageMembership,
)
from clustering.models.pages import Host, Link, Page, SearchClick, Snapshot

__all__ = [
    "Asset",
    "Cluster",
    "ClusterChange",
    "ClusterVerdict",
    "Clustering",
    "Extent",
    "Host",
    "Link",
    "Look",
    "Page",
    "PageMembership",
    "SearchClick",
    "Snapshot",
]
