"""Routes of clusters.

clusterings      clusterings, and the clusters that a site works with
cluster_changes  what people change about clusters, and their verdicts
doubts           what a clustering is not sure of, and people's answers
fields           the fields of a cluster's pages, which nobody annotated
"""
