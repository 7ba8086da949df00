"""Tests of the product; `python -m tests` runs all of them."""
