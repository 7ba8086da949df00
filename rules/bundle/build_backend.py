"""Build the package `vertex-rules`: the modules of the product that run a bundle, and nothing else.

The build backend of `pyproject.toml` beside it (PEP 517): `pip install rules/bundle` calls
`build_wheel`. Beginning with the modules of START it follows the imports, puts what it meets below
`vertex_rules`, and writes the imports anew, so that the package cannot clash with others. No module
is written twice.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent.parent
PACKAGE: Final = "vertex_rules"
OWN: Final = ("annotation", "clustering", "rules", "vertex")  # packages of the product
START: Final = (
    "rules.bundle.__main__",
    "clustering.services.children.child",
    "rules.bundle.item_pages",
    "rules.bundle.push_pages",
    "clustering.algorithms.clusterers",  # imported when a bundle asks for another algorithm
)
FORBIDDEN: Final = "django"  # what runs a bundle needs none of it
DATA_FOLDER: Final = "weights"  # beside a module that reads them
_IMPORT = re.compile(rf"^([ \t]*+)(from|import) ({'|'.join(OWN)})\b", re.MULTILINE)
_MAIN: Final = f'''"""Run a bundle: python -m {PACKAGE} FOLDER SOURCE [--output FILE]."""

import sys

from {PACKAGE}.rules.bundle.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "python -m {PACKAGE}"))
'''
_INIT: Final = f'''\
"""Run the rules of a bundle on pages: `BundleRules(folder).records_of(url, body)`.

`PushPages` is a spider middleware that sends the pages of a Scrapy spider to Vertex.
"""

from {PACKAGE}.rules.bundle.item_pages import BundleRules
from {PACKAGE}.rules.bundle.push_pages import PushPages

__all__ = ["BundleRules", "PushPages"]
'''


class NotBuilt(Exception):
    """A module that the package needs would bring what it must not."""


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,  # noqa: ARG001 - the names are those of PEP 517
    metadata_directory: str | None = None,  # noqa: ARG001
) -> str:
    """Write the wheel into a folder and return its name. Raises NotBuilt."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    version = project["version"]
    info = f"{PACKAGE}-{version}.dist-info"
    files = dict(package_files()) | {
        f"{info}/METADATA": _metadata(project).encode(),
        f"{info}/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: vertex\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = [_record_line(name, content) for name, content in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    name = f"{PACKAGE}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


def package_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the package with their content. Raises NotBuilt."""
    yield f"{PACKAGE}/__init__.py", _INIT.encode()
    yield f"{PACKAGE}/__main__.py", _MAIN.encode()
    modules = needed_modules()
    for path in modules.values():
        text = path.read_text(encoding="utf-8")
        if path.name == "__init__.py":  # it may do what only the product needs
            text = ast.get_docstring(ast.parse(text), clean=False) or ""
            text = f'"""{text}"""\n'
        target = f"{PACKAGE}/{path.relative_to(ROOT)}"
        yield target, _IMPORT.sub(rf"\1\2 {PACKAGE}.\3", text).encode()
    for folder in sorted({path.parent / DATA_FOLDER for path in modules.values()}):
        for path in sorted(folder.glob("*.json")):
            yield f"{PACKAGE}/{path.relative_to(ROOT)}", path.read_bytes()


def needed_modules() -> dict[str, Path]:
    """Return the files of START and of all modules that they import, by name. Raises NotBuilt."""
    needed: dict[str, Path] = {}
    waiting = list(START)
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name in needed or path is None:
            continue
        needed[name] = path
        parent = name.rpartition(".")[0]
        if parent:
            waiting.append(parent)
        if path.name != "__init__.py":
            waiting += _imports_of(path)
    return dict(sorted(needed.items()))


def _file_of(name: str) -> Path | None:
    """Return the file of a module of the product; None for other names, as those in a module."""
    path = ROOT.joinpath(*name.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def _imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            first = name.partition(".")[0]
            if first == FORBIDDEN:
                raise NotBuilt(f"{path.relative_to(ROOT)} imports {name}")
            if first in OWN:
                yield name


def _metadata(project: dict[str, Any]) -> str:
    extras = project.get("optional-dependencies", {})
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    for extra, requirements in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [
            f'Requires-Dist: {requirement} ; extra == "{extra}"' for requirement in requirements
        ]
    return "\n".join(lines) + "\n"


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"
