"""Verticals: what pages describe, which keys people chose, how a site reviews.

verticals  read, check, save, delete and assign verticals
keys       the keys that a person chose for attributes and commands
policies   who may publish at a site, and how many pages are annotated twice
"""
