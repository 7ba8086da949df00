"""The base of the pages: who may open one, lists, toasts.

access        who may open a page
lists         lists in pages, sorted and searched
toasts        short messages after what somebody did
ways_back     where a form wants to lead when it is done
page_reading  which views read strangers' pages, so that page processes answer them
"""
