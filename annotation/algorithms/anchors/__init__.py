"""Anchors: how an annotation holds on to its node, and how nodes are told apart; pure."""
