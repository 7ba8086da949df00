"""What annotation does: verticals and their attributes, annotations of pages, samples, files.

Start at `annotations/annotating.py`: each change is a further revision of one attribute
on one page.

    verticals/    what pages describe: verticals, the keys and the review policy of a site
    samples/      which pages are worth annotating, and in which order people get them
    page/         the page that is annotated: what it shows, what is proposed, what gestures do
    annotations/  write revisions, compare second annotations, comment, measure the effort
    files/        import and export annotations
    seams         where the records take part in suggestions without being imported

Other apps write through `annotate`, `annotate_page`, `save_vertical`, `assign_vertical` and
`samples_request`.
"""
