"""The base of the API: callers, errors, formats, lists in pages."""
