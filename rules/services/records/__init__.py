"""Extract records, store them with their history, and give them to those who pull them.

Start at `extracting.extract_records`: its docstring lists everything that an extraction may start.

    extracting        run the published rules on the pages that are due
    page_clusters     assign pages to clusters before that
    borrowing         let clusters without a rule be read by the rule of another
    published_rules   a site's published rules with what decides between them
    storing           what came of pages, in one transaction with the job's lease
    record_upserts    what is new, changed, gone or the same, by models or by COPY
    stale_records     records from before a redesign, until their pages are extracted again
    record_rows       records as rows of plain values, for the API and exports
    record_exports    records as files; file_formats: a writer for each format
    export_columns    the columns of files, each attribute as its type has it
    record_schemas    the JSON Schema of a vertical's records
    known_records     what records know of a page that is annotated (a seam)
    exporting         a site's rules as a bundle
    webhooks          signed messages to other services when records changed
"""
