"""Show a list of records as a table, without a teacher. Start at `fields`: records in, columns out.

page_tables   the lists of a page as tables of plain values
fields        the columns of some records: `read_fields`
cells         what a record shows, piece by piece, with keys that are equal in other records
same_fields   columns that are one field in several wrappers
column_names  what columns are called, by the page's own words
detail_links  the column that leads to the records' own pages
pagination    the pages that a list goes on at: `find_pagination`

Import from outside: `page_tables`, `fields`, `detail_links`, `pagination`, and from `cells` the
kinds of cells. Pure.
"""
