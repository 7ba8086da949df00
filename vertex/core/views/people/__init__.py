"""Pages of people: account, people and roles, tokens, the audit trail.

account         one's own account
people          people, their roles and where they hold
tokens          keys for the API
second_factors  second factors, passkeys and single sign-on, in the product's own look
adapters        where django-allauth asks the product
audit           who changed what
"""
