"""A site's published rules with what decides between them, as every kind of run takes them."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import orjson

from clustering.models import ClusterChange, ClusterFigures, Clustering
from clustering.values.normalising import READERS_VERSION
from rules.algorithms.running.matching import ClusterProfile, Clusters, GroupModel
from rules.algorithms.running.record_lines import SiteRules
from rules.models import BorrowedRule, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Site


class PublishedRules(NamedTuple):
    """The rules of a site at one moment."""

    rules: SiteRules
    rule_by_cluster: dict[str, Rule]  # by the cluster's name
    borrowed_by_cluster: dict[str, BorrowedRule]  # of clusters without a rule of their own
    ruleset_version: str  # another one whenever a page might be served otherwise

    def rule_serving(self, cluster: str) -> Rule | None:
        """Return the rule that serves a cluster's pages: its own, else one that it borrows."""
        borrowed = self.borrowed_by_cluster.get(cluster)
        return self.rule_by_cluster.get(cluster) or (borrowed.rule if borrowed else None)

    def cluster_pk(self, cluster: str) -> int | None:
        """Return the primary key of a cluster that some rule serves."""
        served = self.rule_by_cluster.get(cluster) or self.borrowed_by_cluster.get(cluster)
        return served.cluster_id if served else None


def published_rules(site: Site) -> PublishedRules:
    """Return a site's published rules and clusters, and a digest of all that decides extraction."""
    rows = Rule.objects.published().of_site(site).select_related("cluster__site")
    rule_by_cluster = {rule.cluster.name: rule for rule in rows.order_by("cluster__name")}
    clustering = Clustering.objects.current().filter(site=site).first()
    clusters = clusters_of(clustering) if clustering else Clusters()
    serving = (
        BorrowedRule.objects.of_site(site).serving().select_related("cluster", "rule__cluster")
    )
    borrowed_by_cluster = {borrowed.cluster.name: borrowed for borrowed in serving}
    lender_by_cluster = {
        name: borrowed.rule.cluster.name
        for name, borrowed in borrowed_by_cluster.items()
        if borrowed.rule is not None
    }
    rules = SiteRules(
        clusters,
        {name: runnable(rule) for name, rule in rule_by_cluster.items()},
        lender_by_cluster,
    )
    changes = ClusterChange.objects.filter(site=site).in_force().values_list("pk", flat=True)
    decided_by = [
        sorted(rule.pk for rule in rule_by_cluster.values()),
        clustering and clustering.pk,
        list(changes),
        site.match_by,
        sorted(lender_by_cluster.items()),
        site.country,
        READERS_VERSION,
    ]
    return PublishedRules(
        rules, rule_by_cluster, borrowed_by_cluster, sha256(orjson.dumps(decided_by)).hexdigest()
    )


def clusters_of(clustering: Clustering) -> Clusters:
    """Return the clusters of a clustering, after what people merged.

    The profile of a merged cluster tells pages of the cluster that it went into.
    """
    survivors = survivor_by_cluster(clustering.site)
    clusters_by_group: dict[str, list[str]] = {}
    profiles = []
    for figures in ClusterFigures.objects.filter(clustering=clustering).select_related("cluster"):
        name = survivors.get(figures.cluster.name, figures.cluster.name)
        if figures.group:
            clusters_by_group.setdefault(figures.group, []).append(name)
        profiles.append(
            ClusterProfile(name, figures.url_pattern, figures.signature, figures.importance)
        )
    return Clusters(
        profiles=tuple(profiles),
        grouping=GroupModel(
            clustering.algorithm, clustering.model, clusters_by_group, clustering.parameters
        ),
        variant=clustering.site.match_by,
    )


def survivor_by_cluster(site: Site) -> dict[str, str]:
    """Return the name of the cluster into which each merged cluster went in the end."""
    merges = ClusterChange.objects.filter(site=site, kind=ClusterChange.Kind.MERGE).in_force()
    survivors: dict[str, str] = {}
    for merged, into in merges.values_list("cluster__name", "into__name"):
        survivors |= {name: into for name, survivor in survivors.items() if survivor == merged}
        survivors[merged] = into
    return survivors
