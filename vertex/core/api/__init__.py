"""The base of the API: callers, errors, formats, lists in pages.

Start at `endpoints`, what all routes do alike.

authentication  who calls: a token in the header, or the browser's session
permissions     what a caller may do: the scopes of the token and the roles of its user
throttling      how many requests one caller may make
serializers     shapes that check what comes in, and document what goes out
formats         JSON in and out
paging          lists in pages, by a cursor
errors          errors in one shape, whatever went wrong and wherever
"""
