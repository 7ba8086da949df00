"""Pages and what they are drawn with; clusterings and clusters.

pages        pages, what was fetched of them, how they link to each other; hosts
fetching     how a site is fetched, where that differs from how all are
assets       style sheets, images and fonts, and which of them a snapshot has
clusterings  what algorithms made of the pages, and what people changed about it
doubts       what a clustering is not sure of, and what people answered
"""

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
