"""Anchors: how an annotation holds on to its node, and how nodes are told apart; pure.

Start at `anchoring.py`: an `Anchor` names a value in several ways and is found again by them.

    node_paths       which XPaths name a node, and the nodes that they select
    page_texts       the displayed text of a page, and which node each piece stands in
    page_index       the texts of a page in which values are looked for
    anchoring        anchors of nodes, texts and proposed values; find them again
    picking          a place on a shown page as an anchor, and an anchor as a drawing
    alike            the nodes that stand as given ones do
    record_examples  all records of a list from one of them
    agreement        whether two people mean the same node
    node_words       what a node is called and what it holds
"""
