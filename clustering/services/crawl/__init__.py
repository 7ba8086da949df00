"""Crawl: visit a site politely and store what came back."""
