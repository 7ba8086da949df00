"""Write stored pages so that a browser shows them and does nothing else; pure.

Start at `rendering`, which writes a page as XHTML with every element numbered.

rendering     the page; imported by services as `render_page`, `wanted_files`, `number_elements`
markup        the elements and attributes that are shown, and their names in the frame
stylesheets   style sheets without what reaches out
frame_style   the style sheet of the frame itself
placeholders  boxes for images and for what is not shown
xml_text      text and attributes as XML
pictures      the types of images and fonts, and cleaned SVG
still_pages   a page for a picture of it, without scripts and network
outlines      an outline of a page where no browser can draw it
"""
