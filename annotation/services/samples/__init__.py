"""Samples: the pages worth annotating, and the order in which people get them.

sampling      draw the samples of clusters, as a job
next_samples  which sample a learner asks for next
worth         which clusters are worth annotating at all
queue         which clusters are worth annotating next
"""
