"""People: accounts and roles, log-in, tokens, the audit trail.

people            let people in, say what they may do, close their accounts
log_in_attempts   check a password or a code; how often and how soon it may be tried again
password_rules    what a password must be
second_factors    who needs one, who has which, and what is done where one is lost
single_sign_on    the person whom an identity provider names
tokens            keys for the API
sealing           what the database keeps and nobody may read there
heavy_work_turns  one piece of heavy work a person at a time
audit             record who changed what
"""
