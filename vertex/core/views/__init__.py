"""The base of the pages: who may open one, lists, toasts."""
