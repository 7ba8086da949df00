"""Rules that run without database and Django: files, processes, Spark, Scrapy.

Start at `extraction.lines_of`, the one function under every kind of run.

    extraction      the records of a page: in this process, or in a child that can be stopped
    limits          children that run what people wrote, with little time and memory
    limited_child   what such a child does with a page
    xpath_checks    whether XPaths that a person wrote may be part of a rule
    bundle          a site's rules as a folder, and running it on a source of pages
    parallel        the same with several processes
    spark           the same on Spark
    scrapy_export   a Scrapy project and a web-poet page that run a bundle
    push_pages      a spider middleware for Scrapy that sends the pages of a spider to Vertex
    item_pages      running a bundle on pages that somebody else fetched
    build_backend   the package `vertex-rules`, of the modules that run a bundle
    __main__        `python -m rules.bundle`

Used from outside: `lines_of`, `extract`, `extract_in_child`, `LimitedRuns`, `Bundle`,
`write_bundle`, `extract_bundle`, `check_xpaths`. `pip install rules/bundle` gives
`python -m vertex_rules`.
"""
