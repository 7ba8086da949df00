"""What every app stands on: sites, people, jobs, files handed in, and plumbing of pages and API.

storage     the page store: bodies under the hash of their content, verified when read
texts       make text fit for the database, whatever it was read from
converters  the parts of addresses that stand for a site and for a row
exceptions  events that more than one app raises and that the interface answers alike
"""
