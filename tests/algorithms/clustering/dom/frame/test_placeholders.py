"""An image's stand-in has its size, and an image's address is found where scripts would look."""

from __future__ import annotations

import time
from urllib.parse import unquote

import pytest
from lxml import html

from clustering.dom.frame.placeholders import box_size, image_source, placeholder


@pytest.mark.parametrize(
    ("tag", "address"),
    [
        ("<img src=' a.png '>", "a.png"),
        ("<img src='data:image/gif;base64,x' data-src=b.png>", "b.png"),
        ("<img data-original=c.png>", "c.png"),
        ("<img srcset='d.png 1x, e.png 2x'>", "d.png"),
        ("<img data-src='{{url}}'>", ""),
        ("<img>", ""),
    ],
)
def test_where_an_image_is_loaded_from(tag: str, address: str) -> None:
    assert address == image_source(html.fragment_fromstring(tag))


@pytest.mark.parametrize(
    ("tag", "size"),
    [
        ("<img width=120 height=40>", (120, 40)),
        ("<img width=120>", (120, 90)),
        ("<img height='30px'>", (40, 30)),
        ("<img width=100% height=auto>", (96, 72)),
        ("<img width=99999 height=0>", (4000, 3000)),
    ],
)
def test_a_grey_box_has_the_size_of_its_image(tag: str, size: tuple[int, int]) -> None:
    drawing = unquote(placeholder(html.fragment_fromstring(tag)))

    assert f'width="{size[0]}" height="{size[1]}"' in drawing


def test_a_box_tells_its_size_to_the_sheet_and_nothing_else() -> None:
    frame = html.fragment_fromstring("<iframe width='100%' height='9;top:0'></iframe>")

    assert "--vertex-width:100%;" == box_size(frame)


def test_a_hostile_width_is_read_in_linear_time() -> None:
    image = html.Element("img", width="1" + " " * 300_000 + "x")
    started = time.thread_time()

    placeholder(image)

    assert time.thread_time() - started < 0.5
