"""The seams: where an app takes part in the work of one to its left, which does not import it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()


def seam(name: str) -> Callable[[], Any]:
    """Return the function of the calling app that loads a provider."""
    app, _, function = name.rpartition(".")
    loader: Callable[[], Any] = getattr(importlib.import_module(f"{app}.services.seams"), function)
    return loader


@pytest.mark.parametrize("name", settings.SEAMS)
def test_each_seam_loads_the_provider_of_the_settings(name: str) -> None:
    assert import_string(settings.SEAMS[name]) is seam(name)()


@pytest.mark.parametrize("name", settings.SEAMS)
def test_each_provider_takes_what_its_protocol_names(name: str) -> None:
    protocol = inspect.get_annotations(seam(name), eval_str=True)["return"]
    declared = list(inspect.signature(protocol.__call__).parameters)[1:]  # without self
    provided = inspect.signature(import_string(settings.SEAMS[name])).parameters

    assert len(declared) == len(provided)
    assert (protocol.__doc__ or "").strip()


@pytest.mark.parametrize("name", settings.SEAMS)
def test_each_seam_and_its_provider_stand_in_the_docstring_and_in_the_picture(name: str) -> None:
    app, _, function = name.rpartition(".")
    docstring = importlib.import_module(f"{app}.services.seams").__doc__ or ""

    assert function in docstring
    assert settings.SEAMS[name] in docstring
    assert f"`{name}`" in ARCHITECTURE


def test_every_module_of_seams_is_in_the_settings() -> None:
    modules = [*ROOT.glob("*/services/seams.py"), *ROOT.glob("vertex/*/services/seams.py")]
    apps = {".".join(path.relative_to(ROOT).parts[:-2]) for path in modules}

    assert {name.rpartition(".")[0] for name in settings.SEAMS} == apps


def test_no_other_module_loads_code_by_a_name_of_the_settings() -> None:
    modules = [
        path
        for app in ("vertex", "clustering", "annotation", "rules", "monitoring")
        for path in (ROOT / app).rglob("*.py")
        if "import_string(settings." in path.read_text()
    ]

    assert {"seams.py"} == {path.name for path in modules}
