"""Forms of what every app stands on.

people          what people enter about themselves, others and their keys
second_factors  what people enter of their second factors
"""
