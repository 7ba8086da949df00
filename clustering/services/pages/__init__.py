"""Pages: store visits, import what people hand in, read what is stored.

Start at `pages`: a crawl and an import both end there.

pages           store visits: parse and keep the bodies, then write pages, snapshots and links
stored_pages    read a site's stored pages, as clusterings do
stored_trees    a stored snapshot with its bytes, and as a tree
page_titles     the titles of stored pages
importing       the job that imports a source, in batches that a crash neither loses nor doubles
archives        open a source: manifest, WARC, zip or folder
manifests       the lines of a manifest
page_entries    what somebody wrote of a page in JSON
pushed_pages    pages that another crawler pushes, in batches
warcs           the records of a WARC
warc_export     a site as a WARC
source_pages    what a source holds, whatever it is
archive_files   what an archive holds beside pages: style sheets, images and fonts, addresses
uploaded_pages  what people upload in the browser, as one source
search_log      what people searched for before they came

Imported from outside: `prepare_visits`, `store_visits`, `Visit`, `stored_pages`, `open_source`,
`store_pushed`.
"""
