"""Documents that no author would admit to: tags that cross, tables without rows, bad names."""

from __future__ import annotations

import random

WRITTEN = """p div span a b i table tr td th tbody thead caption colgroup col ul li dl dt dd form
input button select option optgroup textarea label h1 h2 svg path g lineargradient foreignobject
title style script noscript template iframe object embed video source picture img br hr wbr math mi
mrow font center nobr marquee frameset frame head body html meta link base x-price a:b details
summary ruby rt map area canvas article main pre xmp"""
NAMES = WRITTEN.split()
VOID = {"img", "br", "hr", "wbr", "input", "col", "meta", "link", "base", "area", "embed", "source"}
TEXTS = [
    " ", "\n", "one", "zwei &amp; drei", "\U0001f600 four", "&#13;five", "six &lt;b&gt;", "\u00a0",
    "\t seven \t", "a\x00b", "&#1;", "\ufffe", "]]>", "<!-- note -->", "<!---->", "<?pi x?>",
    "<![CDATA[ c ]]>", "&nosuch;", "<", "</", "<!", "< p>", "é\u0301", "\u202e",
]  # fmt: skip
ATTRIBUTES = [
    "class=a", "class='b c'", 'id="x"', "=x", '"', "'", "x&y=1", "onclick=ran()",
    "style='color:red;background:url(x)'", "href=javascript:ran()", "é=1",
    "xmlns=http://example.org/", "xmlns:a=b", "a:b=c", "data-n=7", "data-x='<&>'", "colspan=3",
    "title='\x01'", "src=x", "xml:lang=en", "viewbox='0 0 9 9'", "transform=rotate(5)", "_=1",
    "-x=2",
]  # fmt: skip


def mis_nested(seed: int, length: int = 40) -> str:
    """Return a document of so many tags and texts, the same for the same seed."""
    chance = random.Random(seed)
    parts, opened = [chance.choice(["", "<!doctype html>", "<html><body>"])], ["p"]
    for _ in range(length):
        kind = chance.random()
        if kind < 0.45:
            name = chance.choice(NAMES)
            attributes = "".join(
                f" {each}" for each in chance.sample(ATTRIBUTES, chance.randrange(3))
            )
            parts.append(f"<{name}{attributes}{chance.choice(['', '', '', '/'])}>")
            opened += [] if name in VOID else [name]
        elif kind < 0.7:
            parts.append(f"</{chance.choice([*opened[-4:], chance.choice(NAMES)])}>")
        else:
            parts.append(chance.choice(TEXTS))
    return "".join(parts)
