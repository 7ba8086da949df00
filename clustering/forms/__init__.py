"""What people may type, checked, by subject.

sites     what people enter about a site
fetching  how a site is fetched; what is secret is never written into a form
pages     crawls, archives, search logs
clusters  what groups a site's pages, and changes of what came out
"""
