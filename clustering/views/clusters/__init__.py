"""Pages of the browser about clusters.

Start at `clusters`: the list, the map, one cluster with its pages; `cluster_rows` is
what lists show.

clusterings      start, compare, delete and choose clusterings
cluster_tables   two clusterings side by side
site_graph       the site model as a drawing
cluster_changes  move pages, merge, split, rename, and undo
kinds            what people say of a cluster's kind, of annotating it, of its layouts
doubts           what a clustering is not sure of, answered; doubt_rows is what the page shows
cluster_reviews  some pages of a cluster, and a verdict
"""
