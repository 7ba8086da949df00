"""Pages of reviews.

reviews      one page after another, and the verdict on the rule
review_rows  what these pages show
policies     what a site asks of reviews
"""
