"""Group a site's pages into clusters, and let people change these. Start at `clusterings`.

clusterings        request a clustering, make one current, delete one, compare two
clustering_runs    the work of a clustering: read, group, assign, describe
site_samples       the sample that an algorithm groups, from all parts of a site
clustering_inputs  links, search log, redirects and answers that an algorithm may use
observer_processes observe many pages at once; observer_child is what a child does
observing          observe what came to a site, before anybody clusters it
observation_store  what was observed of pages, in files
grouped_pages      the pages of a run in their groups, with the figures of each
clustering_store   a finished run in the database, under names that go on
arrivals           assign new pages without clustering again
cluster_changes    move, merge, rename, undo, redo
splitting          split a cluster; split_parts finds the part of a page
current_changes    repeat people's changes in a clustering
cluster_figures    keep figures right when pages move
current_clusterings, cluster_names  the locked current clustering; names for new clusters
kinds              what clusters are for, and whether to annotate them
found_fields       the fields of a cluster's pages, without annotations
layouts            the layouts of clusters; split one off
doubts             settle what a clustering is not sure of; cluster_answers reads
                   what people answered
cluster_reviews    pages to review, verdicts, the truth file
evaluation         clusters against true types, from files

All but observer_child, split_parts and clustering_store may be imported from outside.
"""
