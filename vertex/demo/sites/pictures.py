"""Pictures made by code: drawings for shops and newspapers, small bitmaps for old sites."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from itertools import pairwise
from random import Random

from vertex.demo.sites.site import Asset

Pixel = tuple[int, int, int]


def svg(width: int, height: int, shapes: str) -> Asset:
    """Return a drawing."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return Asset(f"{head}{shapes}</svg>".encode(), "image/svg+xml")


def landscape(seed: str, width: int = 640, height: int = 400) -> Asset:
    """Return mountains under a sky; the seed decides hour and shapes."""
    rng = Random(seed)
    hue = rng.choice([18, 200, 208, 215, 260, 340])
    sky = f"hsl({hue} 70% {rng.randint(72, 86)}%)"
    sun = f'<circle cx="{rng.randint(80, width - 80)}" cy="{rng.randint(50, 140)}" r="{rng.randint(22, 46)}" fill="hsl(45 95% 75%)"/>'
    ridges = "".join(_ridge(rng, width, height, layer, hue) for layer in range(3))
    return svg(
        width, height, f'<rect width="{width}" height="{height}" fill="{sky}"/>{sun}{ridges}'
    )


def _ridge(rng: Random, width: int, height: int, layer: int, hue: int) -> str:
    base = height * (0.45 + 0.17 * layer)
    step = width / 8
    points = [(step * n, base + rng.uniform(-1, 1) * height * 0.13) for n in range(9)]
    path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    colour = f"hsl({hue} {30 - 6 * layer}% {58 - 16 * layer}%)"
    return f'<polygon points="0,{height} {path} {width},{height}" fill="{colour}"/>'


def png(width: int, height: int, colour: Callable[[int, int], Pixel]) -> Asset:
    """Return a bitmap from the colour of each pixel."""
    rows = b"".join(
        b"\0" + bytes(part for x in range(width) for part in colour(x, y)) for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return Asset(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts), "image/png")


def _chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )


def street(seed: str, width: int = 120, height: int = 90) -> Asset:
    """Return a small bitmap of house fronts under a sky."""
    rng = Random(seed)
    edges = sorted({0, width, *(rng.randrange(14, width - 10) for _ in range(4))})
    houses = [
        (
            left,
            right,
            rng.randrange(20, 48),
            (rng.randrange(120, 220), rng.randrange(90, 170), rng.randrange(70, 140)),
        )
        for left, right in pairwise(edges)
    ]

    def colour(x: int, y: int) -> Pixel:
        if y > height - 12:
            return (125, 125, 120)
        left, _, roof, wall = next(house for house in houses if house[0] <= x < house[1])
        if y < roof:
            return (150 + y, 190 + y // 2, 235)
        is_window = (x - left) % 12 in range(4, 9) and (y - roof) % 16 in range(5, 12)
        return (70, 80, 110) if is_window else wall

    return png(width, height, colour)
