"""Find the data slots of a cluster's pages: what varies from page to page, without a teacher; pure.

Start at `finding`: texts that stand alike on the pages are a slot.

finding        the slots of some pages, and what another page shows in them
shared_markup  what the pages share: names of elements, labels, texts of nearly all pages
page_texts     the texts of one page and the elements they stand in
fields         slots as people see them: overlapping ones folded, named, typed, in order
nested_fields  which of them are of one list within a page, such as the offers of a product

    finder = SlotFinder(trees)             # some pages of one cluster; 20 to 60 are plenty
    for slot in finder.find():             # the fullest first, at most 1,000; they overlap
        slot.label, slot.declared_name     # blank where there is none; slot.place is readable
        slot.fill, slot.is_multi           # the share of pages that show it; several on a page
        slot.values(0)                     # what the first page shows
        slot.texts[0][0].text.element      # the node; `.nth` of its texts, `.xpath` its path
    finder.read(another_tree, slots)       # the texts in each of the slots on a further page

`find_slots(trees)` is the same in one call. `find(with_constants=True)` adds what all pages show
alike.
"""
