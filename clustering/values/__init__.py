"""Read values as pages write them. Start at `normalising`, which calls the reader of a type.

normalising          a displayed value in the form that programs compare, by type
prices, dates, numbers, phones, ratings  a reader each: text in, value out, None where it is none
dates_by_dateparser  dates in the languages that `dates` does not know
countries            the country of a site by its host name
recognising          where values of a type may stand in a text, and what most values look like
displayed            a text as a reader sees it
typed_regexes        the part of a text that an attribute's regular expression selects

All modules may be imported from outside. Pure.
"""
