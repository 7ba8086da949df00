"""What of a page's markup the frame shows: elements, attributes, and their names there.

An element that is not in these tables keeps its place as an inert one: `vertex-script`,
`vertex-unknown`.
"""

from __future__ import annotations

import re
from typing import Final

XHTML: Final = "http://www.w3.org/1999/xhtml"
SVG: Final = "http://www.w3.org/2000/svg"
MATHML: Final = "http://www.w3.org/1998/Math/MathML"
PREFIX: Final = "vertex-"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS: Final = _words(
    """html head body title style div span p a abbr acronym address article aside b bdi bdo big
        blockquote br button caption center cite code col colgroup data datalist dd del details
        dfn dialog dir dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6
        header hgroup hr i img input ins kbd label legend li main map area mark marquee menu
        meter nav nobr ol optgroup option output p picture pre progress q rb rp rt rtc ruby s
        samp search section select small strike strong sub summary sup svg table tbody td
        textarea tfoot th thead time tr tt u ul var wbr xmp listing plaintext"""
)
# Those of which a browser draws nothing but themselves: with something in them they become inert
# ones.
CHILDLESS: Final = _words("br hr img input wbr col area")
# What stands for something that is not shown, or not as what it is.
PLACEHOLDERS: Final = _words(
    """script noscript template meta link base object embed param applet iframe frame frameset
        noframes portal fencedframe video audio source track canvas slot shadow content image
        bgsound keygen isindex command menuitem basefont blink layer ilayer"""
)
BOXES: Final = _words("object embed applet iframe frame video audio canvas portal fencedframe")
SVG_ELEMENTS: Final = {
    name.lower(): name
    for name in _words(
        """svg g path rect circle ellipse line polyline polygon text tspan textPath defs symbol
            use linearGradient radialGradient stop clipPath mask pattern title desc marker
            image filter feBlend feColorMatrix feComponentTransfer feComposite feDropShadow
            feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode
            feMorphology feOffset feTile feTurbulence"""
    )
}
MATHML_ELEMENTS: Final = _words(
    """math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom msub
        msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd semantics
        menclose mfenced"""
)
# The element of each namespace that shows nothing of its own.
NEUTRAL: Final = {SVG: "g", MATHML: "mrow", XHTML: "span"}

ATTRIBUTES: Final = _words(
    """class id title lang dir hidden role align valign width height bgcolor border bordercolor
        cellpadding cellspacing colspan rowspan nowrap noshade color face size clear hspace
        vspace start reversed compact type value placeholder checked selected multiple rows
        cols wrap span scope frame rules alt open label text link vlink alink datetime min max
        low high optimum popover shape coords usemap itemprop itemtype itemscope property rel
        summary headers abbr char leftmargin topmargin rightmargin bottommargin marginwidth
        marginheight readonly maxlength direction behavior scrollamount"""
)
# Their `name` is shown: no document is reached by it.
NAMED: Final = _words("input button select textarea map")
FOCUSABLE: Final = _words("a area button input select textarea summary details")
SVG_ATTRIBUTES: Final = {
    name.lower(): name
    for name in _words("""class id viewBox preserveAspectRatio x y x1 y1 x2 y2 cx cy r rx ry fx
        fy fr d points transform width height fill fill-opacity fill-rule stroke stroke-width
        stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset
        stroke-opacity opacity clip-path clip-rule mask color display visibility overflow
        offset stop-color stop-opacity gradientUnits gradientTransform spreadMethod
        patternUnits patternContentUnits patternTransform maskUnits maskContentUnits
        clipPathUnits markerWidth markerHeight markerUnits refX refY orient marker-start
        marker-mid marker-end text-anchor dominant-baseline alignment-baseline font-family
        font-size font-weight font-style letter-spacing word-spacing text-decoration dx dy
        rotate textLength lengthAdjust startOffset pathLength filter filterUnits primitiveUnits
        in in2 result stdDeviation flood-color flood-opacity mode values type operator k1 k2 k3
        k4 radius baseFrequency numOctaves seed stitchTiles slope intercept amplitude exponent
        tableValues vector-effect shape-rendering text-rendering image-rendering paint-order
        role hidden lang dir color-interpolation-filters baseProfile version""")
}
MATHML_ATTRIBUTES: Final = _words(
    "class id display mathvariant stretchy linethickness width height dir"
)
_LOOSE_ATTRIBUTE: Final = re.compile(r"(?:data|aria)-[a-z0-9_.-]{1,60}")
_CUSTOM: Final = re.compile(r"[a-z][a-z0-9._]*-[a-z0-9._-]*")
OWN_ATTRIBUTE: Final = "data-n"  # carries an element's number


def element_name(name: str, *, is_empty: bool = True) -> str:
    """Return the name that an HTML element has in the frame.

    >>> [element_name("p"), element_name("script"), element_name("x-price"), element_name("a:b")]
    ['p', 'vertex-script', 'x-price', 'vertex-unknown']
    """
    if name in ELEMENTS and (is_empty or name not in CHILDLESS):
        return name
    if name in PLACEHOLDERS or name in CHILDLESS:
        return PREFIX + name
    if _CUSTOM.fullmatch(name) and not name.startswith(PREFIX):
        return name
    return f"{PREFIX}unknown"


def element_name_in_sheets(written: str) -> str:
    """Return a type selector as the frame calls its elements; SVG's keep their capitals."""
    name = written.lower()
    return PREFIX + name if name in PLACEHOLDERS else SVG_ELEMENTS.get(name, name)


def is_kept(element: str, attribute: str) -> bool:
    """Return whether an attribute of an HTML element is shown as it is."""
    if attribute in ATTRIBUTES:
        return True
    if attribute == "name":
        return element in NAMED
    return _LOOSE_ATTRIBUTE.fullmatch(attribute) is not None and attribute != OWN_ATTRIBUTE
