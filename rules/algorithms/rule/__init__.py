"""A learnt rule as plain values, and its XPaths; pure.

Start at `rule`: a cluster's rule, its attributes' rules and their alternatives.

- `rule` the dataclasses of a rule, `ClusterRule` at the top
- `feature` one test of a node, its XPath, and the XPath of several in conjunction
- `xpaths` parts of XPath 1.0: texts as they are shown, literals, alternatives
- `sentences` where an alternative looks for its value, in plain words
- `json_form` the JSON of all these dataclasses

Other rooms may import all of it.
"""
