"""What a reviewer looks at: what another rule changes, how good a rule is on judged pages. Pure.

    impact        what changes about records, field by field
    differences   where two texts differ, word by word
    validity      precision and recall on pages that a person judged, and what they say
                  of the others
    reliability   whether values are right as often as the rule was sure of them

Used from outside: `changes_of_page`, `count_changes`, `differences`, `validity_of`,
`reliability_of`.
"""
