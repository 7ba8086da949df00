"""Read HTML: bytes to trees, addresses, paths and links, and pages made safe to show; pure.

Start at `page`, the only place where HTML is parsed.

page       bytes to a tree, in the charset that browsers would choose
addresses  addresses, normalised and compared
links      the links of a page
sitemaps   what a site lists of itself
declared   what a page declares about its things, as JSON-LD and in its elements
titles     the title of a page
log_in_forms  the form by which people log in, and what shows that somebody is logged in
paths      where elements stand: paths with positions, paths of tags
visible    which elements show nothing, which begin a line, which are headings

Room: `frame`, what of a stored page is shown, and how. All other packages may import from here.
"""
