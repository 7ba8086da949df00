"""The style that every page in the frame begins with; each rule of a page comes before it."""

from __future__ import annotations

from typing import Final

from clustering.dom.frame.markup import BOXES, PREFIX

_BOXES: Final = ",".join(sorted(PREFIX + name for name in BOXES))
_HIDDEN: Final = ",".join(
    PREFIX + name
    for name in (
        "base",
        "link",
        "meta",
        "noscript",
        "param",
        "script",
        "style",
        "template",
        "track",
    )
)
_AS_THEIR_CONTENTS: Final = ",".join(
    PREFIX + name for name in ("source", "slot", "img", "br", "wbr", "col", "area", "hr", "input")
)

# In a layer: what a page says outside of layers comes first, except where a rule is important.
BASE_SHEET: Final = f"""@layer vertex{{
:root{{color-scheme:light}}
{_HIDDEN}{{display:none!important}}
{_AS_THEIR_CONTENTS}{{display:contents}}
{_BOXES}{{display:inline-block;box-sizing:border-box;overflow:hidden;max-width:100%;
width:var(--vertex-width,300px);height:var(--vertex-height,150px);color:#62636f;
background:#e4e5ec repeating-linear-gradient(45deg,transparent 0 9px,#d9dae3 9px 10px)}}
{PREFIX}audio{{--vertex-height:54px}}
{PREFIX}frameset,{PREFIX}noframes{{display:block}}
*{{user-select:text!important;-webkit-user-select:text!important;-webkit-user-drag:none!important;
scroll-behavior:auto!important;cursor:crosshair!important}}
}}"""
# How browsers draw pages whose first line asks for no standard.
QUIRKS_SHEET: Final = f"""{BASE_SHEET}
@layer vertex{{
table{{white-space:initial;line-height:initial;font-weight:initial;font-size:initial;font-style:initial;
font-variant:initial;text-align:start}}
input:not([type=image i]),textarea{{box-sizing:border-box}}
img[align=left i]{{margin-right:3px}}
img[align=right i]{{margin-left:3px}}
form{{margin-block-end:1em}}
html,body{{min-height:100%}}
}}"""
