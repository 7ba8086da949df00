"""How long `cluster_site` takes for 2,000 stored pages, with the default algorithm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import markdown_table
from vertex.demo import sites

TITLE = "Clustering stored pages"
ROOT = Path(__file__).resolve().parent.parent
N_PAGES = 2_000


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    with tempfile.TemporaryDirectory() as folder:
        manifest, n_bytes = write_pages(Path(folder))
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        command(environment, "add_site", "mixed", "--url", "http://mixed.example/")
        command(environment, "import_pages", "mixed", str(manifest))
        began = time.perf_counter()
        lines = command(environment, "cluster_site", "mixed")
        seconds = time.perf_counter() - began
    n_clusters = len({json.loads(line)["cluster"] for line in lines.splitlines()})
    rows = [[f"{N_PAGES:,} pages, {n_bytes / 2**20:.0f} MiB", f"{seconds:.1f}", n_clusters]]
    return (
        "Pages of two editions of the four demo sites as if they were one site, "
        "from the start of the "
        "command to its end. Bar: 60 s.\n\n" + markdown_table(["site", "seconds", "clusters"], rows)
    )


def write_pages(folder: Path) -> tuple[Path, int]:
    """Write the pages with their manifest, and return it with their size."""
    manifest, n_bytes = folder / "pages.jsonl", 0
    with manifest.open("w") as lines:
        for number, (path, body, content_type) in enumerate(pages()):
            (folder / f"{number}.html").write_bytes(body)
            n_bytes += len(body)
            entry = {"url": f"http://mixed.example{path}", "file": f"{number}.html"}
            lines.write(json.dumps(entry | {"content_type": content_type}) + "\n")
    return manifest, n_bytes


def pages() -> Iterator[tuple[str, bytes, str]]:
    """Yield path, bytes and content type of each page."""
    n_left = N_PAGES
    for edition in ("1", "2"):
        for name in sites.NAMES:
            for page in sites.load(name, edition).pages.values():
                if n_left == 0:
                    return
                n_left -= 1
                yield f"/{name}/{edition}{page.path}", page.body, page.content_type


def command(environment: dict[str, str], *arguments: str) -> bytes:
    called = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        called, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
