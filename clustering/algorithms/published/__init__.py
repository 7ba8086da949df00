"""Clustering algorithms as their papers publish them, and the baselines; pure.

Start at a module's card: it has the paper, its notation, how we read it and where we differ.

shingles               Vertex: signatures of tag sequences; rules match by `shingle_vector`, too
keyclus                KeyClus: key paths from a search log. Its parts: attributed_paths (a page),
                       template_removal, key_paths (the ranking), tabs, unique_attributes (pages
                       recognised in their bytes), derived_log (a log made from links)
site_model             Crescenzi, Merialdo, Missier: a graph of page classes. Its parts:
                       page_classes, link_queue, exploration
uxclust                Grigalis and Čenys: XPaths of inbound links
path_shingles          baselines, as are masked_path_shingles, common_paths, pq_grams and
                       tree_distance
urest                  Shen and Karger: the records of a page; tree_edit aligns its trees. The
                       benchmarks compare `records` with it

Each clusterer exports `CLUSTERER`, which stands in the table `clusterers`.
"""
