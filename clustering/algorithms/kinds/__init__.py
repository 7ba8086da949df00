"""Tell the kinds of a site's clusters. Start at `cluster_kinds`: known pages in, kinds out.

cluster_kinds  the kind of each cluster, with its certainty
kind_features  named numbers that tell lists from pages about one thing
page_facts     what is read of a page for that
kind_names     the kinds

The weights are written by `python -m benchmarks.cluster_kinds`. Pure.
"""
