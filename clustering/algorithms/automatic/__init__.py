"""Group pages by type from all that a site offers. Start at `auto`, the default clusterer.

auto              observe, group, assign: the clusterer
page_features     what a page has: tag paths, contents, texts, title
feature_table     the features of all pages, weighed
profiles          groups as shares of features, joined by the closest pair
kinship           how far apart two groups may be and still be of one type
near_twins, exclusive_fields  types that a group of one template hides
group_reasons     what sets a group apart, in words
profile_model     the groups as JSON, by which later pages are assigned
resplit           a stricter grouping of one cluster
link_fallback     pages without telling addresses, by where they are linked from

Import from outside: `auto`, and `resplit` for clusters that people split. Pure.
"""
