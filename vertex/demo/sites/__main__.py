"""Serve a demo site, or write it to a folder.

`python -m vertex.demo.sites serve alpine-shop --port 8000`
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vertex.demo.sites import EDITIONS, NAMES, load
from vertex.demo.sites.server import DemoServer


def main(arguments: list[str]) -> None:
    """Do what the command line asks for."""
    options = _parser().parse_args(arguments)
    site = load(options.name, options.edition)
    if options.command == "write":
        manifest = site.write(options.folder, options.base_url)
        site.write_truth(options.folder / "truth", options.base_url)
        sys.stderr.write(f"{len(site.pages)} pages in {manifest}\n")
        return
    server = DemoServer(site, options.port)
    sys.stderr.write(f"{site.title}, edition {site.edition}: {server.url}/ (stop with Ctrl-C)\n")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vertex.demo.sites", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve a site on loopback")
    write = commands.add_parser("write", help="write pages, manifest.jsonl and truth/ to a folder")
    for command in (serve, write):
        command.add_argument("name", choices=NAMES)
        command.add_argument("--edition", choices=EDITIONS, default="1")
    serve.add_argument("--port", type=int, default=0, help="default: any free port")
    write.add_argument("folder", type=Path)
    write.add_argument(
        "--base-url", default="", help="address of the site in the manifest, without a last slash"
    )
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
