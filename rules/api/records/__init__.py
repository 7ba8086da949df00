"""Routes of records and webhooks.

records   records, their history, and files of them
webhooks  who is told of changed records
"""
