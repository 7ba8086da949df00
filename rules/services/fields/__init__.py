"""Learn a vertical's fields from published rules, and draft the rules of further sites by them.

Start at `field_drafts`: the job that drafts rules, and the drafting of one cluster.

- `cluster_drafts` the draft of one cluster: from declarations, known records and other sites
- `draft_extraction` records by drafts, to look at
- `accepting_fields` found fields that somebody ticked, made a rule
- `second_opinions` what other sites would take for the attributes of a rule that is decided on
- `field_profiles` the profiles of a vertical: one for each published rule, made anew
  where it changed

From outside: `training_request`, `drafting_request`, `draft_lines`.
"""
