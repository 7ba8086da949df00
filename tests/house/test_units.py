"""The systemd units of the documents load, and keep the product from what it does not need."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
UNIT_BY_NAME = dict(
    re.findall(
        r"`/etc/systemd/system/(vertex-[\w@]+\.service)`[^`]*```ini\n(.*?)```",
        OPERATIONS,
        re.DOTALL,
    )
)
# What `systemd-analyze security` calls the exposure of a service: 10 is all, tens of it. Chromium
# makes namespaces.
MAX_EXPOSURE = {"vertex-web": 35, "vertex-clock": 35, "vertex-fetch": 42, "vertex-worker@": 42}

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="there is no systemd-analyze: apt-get install systemd",
)


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )


def test_all_units_are_found() -> None:
    assert {f"{name}.service" for name in MAX_EXPOSURE} == UNIT_BY_NAME.keys()


@pytest.mark.parametrize("name", MAX_EXPOSURE)
def test_each_unit_can_be_loaded(name: str, tmp_path: Path) -> None:
    instance = f"{name}keep" if name.endswith("@") else name
    unit = tmp_path / f"{instance}.service"
    # The programs are not installed where this runs.
    unit.write_text(
        re.sub(r"(?m)^Exec(\w+)=\S+", r"Exec\1=/bin/true", UNIT_BY_NAME[f"{name}.service"])
    )

    complaints = analyze("verify", "--man=no", str(unit)).stderr

    assert unit.name not in complaints


@pytest.mark.parametrize("name", MAX_EXPOSURE)
def test_each_unit_gives_away_little(name: str, tmp_path: Path) -> None:
    unit = tmp_path / f"{name}.service"
    unit.write_text(UNIT_BY_NAME[unit.name])

    threshold = f"--threshold={MAX_EXPOSURE[name]}"
    result = analyze("security", "--offline=true", "--no-pager", threshold, str(unit))

    assert result.returncode == 0, result.stdout


def test_a_unit_without_protection_is_seen(tmp_path: Path) -> None:
    unit = tmp_path / "bare.service"
    unit.write_text("[Service]\nExecStart=/bin/true\nNoSuchThing=yes\n")

    assert "NoSuchThing" in analyze("verify", "--man=no", str(unit)).stderr
    assert analyze("security", "--offline=true", "--threshold=42", str(unit)).returncode != 0
