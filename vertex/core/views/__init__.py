"""The base of the pages: who may open one, lists, toasts.

access        who may open a page
lists         lists in pages, sorted and searched
toasts        short messages after what somebody did
page_reading  which views read strangers' pages, so that page processes answer them
"""
