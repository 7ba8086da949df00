"""Learn rules from annotations, and what editors see of it beside a page.

Start at `learning`: the job that learns the annotated clusters, and the learning of one cluster.

- `sample_pages` the pages that a rule is learnt from and judged on; `tree_cache` keeps their trees
- `versions` saves a version of a rule with its pages, whoever made it, and one that follows another
- `schemas` a cluster's vertical, and a rule as it runs
- `held_out` the pages on which a proposed rule is judged
- `panel` the rule so far on all samples; `suggestion_cache` what is suggested for them
- `prefilling` what the newest rule finds on a page that is being annotated
- `trial_runs` a stylesheet that somebody wrote, scored on the samples
- `place_pictures` draws where a rule finds each attribute
- `weighing` tells whether a page is too heavy, `heavy_pages` which of many it is
- `ruled_clusters` the clusters that have a rule
- `annotation_cost` what annotating a site took, and what the rest will take

From outside: `learn_rule`, `learning_request`; `SamplePages`, `save_version`, `save_successor`;
`vertical_of`, `runnable`; `next_page` and `prefill` for annotating; `try_edit` and `HandEdit`.
"""
