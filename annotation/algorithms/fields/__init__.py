"""Recognise the fields of a vertical on a new site by what other sites of it show; pure.

Start at `recognising`: the slots of some pages, compared with the fields.

slot_features  what a slot's values look like, how they behave, where they stand
profiles       the fields of a known site, to compare with
matching       features of a field and a slot, and the trained weights (weights/matching.json)
drafting       which slot is which field, how certain that is and why
declared_labels  what the texts of pages are, by what the pages declare
noisy_labels   which slots would most likely have got such doubtful labels
second_opinions  whether a rule takes for a field what other sites would take
recognising    all of it for the pages of a cluster, and again once a page is confirmed

The weights are trained over verticals by `python -m benchmarks.verticals DATA`. From outside:
`recognise_fields`, `profile_site`, `KnownFields`, `shipped_weights`.
"""
