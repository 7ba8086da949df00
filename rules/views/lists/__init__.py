"""Pages of tables.

tables      a table from an address: looked at, changed, exported, made a rule
table_rows  what these pages show of a list
"""
