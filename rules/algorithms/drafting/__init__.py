"""Make rules of a cluster that nobody annotated, or hardly anybody; pure.

Start at `slot_rules`.

- `slot_rules` the slots that are taken for fields, handed to the learner as if they
  had been annotated
- `label_rules` the same from doubtful labels: what pages declare, what is known from elsewhere
- `confirmed_rules` the same beside pages that a person annotated
"""
