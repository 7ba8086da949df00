"""Rules that run without database and Django: files, processes, Spark, Scrapy."""
