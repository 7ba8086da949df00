"""The route of the fields of a cluster's pages, which nobody annotated."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from clustering.api.clusters.cluster_changes import ClusterAddress
from clustering.models import Cluster
from clustering.services.clusters.found_fields import cluster_fields, field_lines
from vertex.core.api.endpoints import endpoint
from vertex.core.models import Role, Scope
from vertex.core.views.page_reading import reads_pages


class ClusterField(serializers.Serializer[Any]):
    """Texts that stand alike on the pages of a cluster and vary."""

    cluster = serializers.CharField()
    slot = serializers.CharField(help_text="The same as long as the cluster's pages are the same.")
    name = serializers.CharField(help_text="Unique in the cluster.")
    label = serializers.CharField(  # type: ignore[assignment]  # the word is a field's own, too
        help_text="What the pages call it; blank for none."
    )
    type = serializers.CharField(help_text="Of an attribute: text, price, date and so on.")
    fill = serializers.FloatField(help_text="The share of pages that show it, 0 to 1.")
    multi = serializers.BooleanField(help_text="Whether pages show several values.")
    examples = serializers.ListField(child=serializers.CharField())
    place = serializers.CharField(help_text="The last steps to its texts.")
    list = serializers.CharField(
        required=False,
        help_text="The list within a page whose entries have it, where it is of one.",
    )
    declared = serializers.CharField(
        required=False, help_text="What the markup declares it to be, where it does."
    )
    folded_into = serializers.CharField(
        required=False, help_text="The slot that is shown in its place, where there is one."
    )


class FieldsOfCluster(serializers.Serializer[Any]):
    """The fields of a cluster; there are at most a thousand, so that one page holds them all."""

    results = ClusterField(many=True)
    next = serializers.URLField(allow_null=True, help_text="Always null.")


@reads_pages
class ClusterFieldList(ClusterAddress):
    @endpoint(
        "list_cluster_fields",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=FieldsOfCluster,
        tags=["clusters"],
    )
    def get(self, _request: Request, *, subject: Cluster, **_: object) -> dict[str, Any]:
        """List the fields that a cluster's pages show, in the order in which people see them."""
        return {"results": list(field_lines(cluster_fields(subject))), "next": None}
