"""Pages of records and webhooks.

records   the list of records, and one with its history
webhooks  who is told of changed records
"""
