"""What annotation computes: anchors, suggestions, samples; pure.

anchors/         hold on to a node of a page and find it again
suggestions/     values of attributes before anybody annotated one
attribute_types  what is known of an attribute's values before any is seen
attribute_keys   a key for each attribute
sampling         the few pages of a cluster that are worth annotating
effort           how much work annotating was
"""
