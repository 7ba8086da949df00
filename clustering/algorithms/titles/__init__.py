"""Title clusters so that people understand them. Start at `titles`: known pages in, titles out.

titles         the subject or purpose of each cluster: `title_clusters`
page_kinds     what a page is: declared types, main parts, lists, forms
schema_types   the types that a page declares
title_words    words of addresses, titles and classes that name something
title_clashes  titles for clusters that would have the same one

Import from outside: `titles`, and `page_kinds` to describe the pages. Pure.
"""
