"""Pages of rules and of learning them.

Start at `rules`: the rules of a site, and one rule with all that is known of it.

- `rule_rows` the rows and cards of these pages
- `reliability_chart` the diagram of how far a rule's certainty can be believed
- `rule_changes` the buttons: learn, propose, publish, send back, roll back, extract, export
- `borrowed_rules` whose rule reads the pages of a cluster without one
- `hand_edits` a rule changed by hand, scored as one types
- `found_fields` the fields that pages show, and the rule that those that are ticked become
- `panel` the rule so far, beside the page that is annotated
- `annotation_cost` what annotating a site costs
"""
