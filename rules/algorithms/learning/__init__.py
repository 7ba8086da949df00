"""Learn a cluster's rule from annotated and other samples, and assess it; pure.

Start at `learner`: samples, their nodes, features, candidates, a rule, the part of the text that
is a value.

- `learner` the table of learners, and the rule of a cluster
- `default_learner` an attribute's rule in steps; `attribute_task` what the steps look for;
  `covering` several conjunctions where one does not do; `pinning` narrows a rule to tags, so that
  it is cheap to run
- `same_value` the nodes that show what an annotated one shows
- `published_learner` the same as published; `apriori` its search, Algorithm 3
- `list_learner` where records begin and end, and the rules within; `record_samples` a sample for
  each record
- `entries` where the entries of a nested list begin and end
- `samples` the pages and the goal of a search; `targets` what was annotated, as nodes
- `node_index` the nodes of all pages; `nodes` those of one page; `columns` the nodes that have a
  feature
- `features` of a target; `feature_prices` what each costs; `naming` whether a text names an
  attribute
- `vote_costs` what the vote of a beaten candidate costs
- `search` the default search for conjunctions; `positional` and `naive_bayes` where none is precise
- `text_selection` the part of a text that is the value; `range_pruner` as published, and more
- `stopping` whether another page is needed; `novelty` what is new on pages; `evaluating` a rule at
  work

From outside: `learn_cluster`, `learn_from`, `LEARNERS`; `learn_list`, `learn_records` and
`RecordSamples`; `read_samples`; `AnnotatedPage`, `MarkedNode`; `assess`, `SamplePage`,
`SuggestedValues`, `richest`; `Walks`.
"""
