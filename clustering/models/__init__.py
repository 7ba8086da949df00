"""Pages and what they are drawn with; clusterings and clusters."""

from clustering.models.assets import Asset, SnapshotAssets
from clustering.models.clusterings import (
    Annotating,
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    ClusterKind,
    ClusterLayout,
    ClusterReview,
    PageMembership,
)
from clustering.models.doubts import ClusterAnswer, ClusterDoubt
from clustering.models.fetching import SiteFetching
from clustering.models.pages import Host, Link, Page, SearchClick, Snapshot

__all__ = [
    "Annotating",
    "Asset",
    "Cluster",
    "ClusterAnswer",
    "ClusterChange",
    "ClusterDoubt",
    "ClusterFigures",
    "ClusterKind",
    "ClusterLayout",
    "ClusterReview",
    "Clustering",
    "Host",
    "Link",
    "Page",
    "PageMembership",
    "SearchClick",
    "SiteFetching",
    "Snapshot",
    "SnapshotAssets",
]
