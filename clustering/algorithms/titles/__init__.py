"""Title clusters so that people understand them. Start at `titles`: known pages in, titles out.

titles          the title of each cluster: `title_clusters`
cluster_pages   what is known of a cluster's pages
page_kinds      what a page is: declared types, main parts, lists, forms
schema_types    the types that a page declares
breadcrumbs     the names of the pages above a page
title_purposes  what pages are for: start, errors, log-in, results
title_lists     the clusters to which lists lead
title_phrases   phrases of addresses, texts, types and classes that may name a page
title_evidence  which phrase best separates a cluster from the others
title_clashes   titles for clusters that would have the same one
title_words     words that name something

Import from outside: `titles` and `cluster_pages`, and `page_kinds` to describe the pages. Pure.
"""
