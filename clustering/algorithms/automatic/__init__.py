"""Group pages by type from all that a site offers. Start at `auto`, the default clusterer.

auto            observe, group, assign: the clusterer
page_walk       one walk over a page: kinds of elements, texts
page_features   what a page has: tag paths, contents, texts, title, counts
feature_table   the features of all pages, weighed
evidence        families of features, by which groups are compared
plain_addresses addresses without language, page of a list, index file
first_groups    small groups that surely are of one template
page_fits       do pages fit their own group better than another?
pair_features   two groups described by numbers
join_model      the trained trees: log-odds that one template made both
joining         join groups in the order of their log-odds, as people's answers allow
doubts          which decisions may be wrong and why; answers brought back to groups
layouts         parts of a group that look different
profiles        groups as shares of features, joined by the closest pair
profile_model   the groups as JSON
placing         later pages assigned by that, in plain Python
group_reasons   what sets a group apart, in words
near_twins, exclusive_fields  pages of one template that a section or fields tell apart
resplit         a stricter grouping of one cluster
weights/        the trained trees, made by: python -m benchmarks.joins

Import from outside: `auto`, and for clusters that people split `resplit` and the `assign` of
`profile_model`. Pure.
"""
