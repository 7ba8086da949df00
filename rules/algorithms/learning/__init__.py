"""Learn a cluster's rule: samples, nodes, features, candidates, rule, part of the text; pure."""
