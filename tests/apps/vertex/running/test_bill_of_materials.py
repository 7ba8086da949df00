"""What the product is made of, and whether it has known flaws, as far as this can be known."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as product_settings
from django.core.management import CommandError, call_command

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from vertex.running.bill_of_materials import LockedPackage, bill_of, read_locked

LOCKED = f"""\
# compiled
celery[redis]==5.6.0 \\
    --hash=sha256:{"a" * 64} \\
    --hash=sha256:{"b" * 64}
    # via -r requirements.in
Kombu_x==5.4 ; python_version >= "3.11" \\
    --hash=sha256:{"c" * 64}
    # via
    #   -r requirements.in
    #   celery
"""
CELERY = LockedPackage("celery", "5.6.0", ("a" * 64, "b" * 64), ())
KOMBU = LockedPackage("kombu-x", "5.4", ("c" * 64,), ("celery",))


def test_locked_requirements_are_read_with_hashes_and_what_needs_them() -> None:
    assert [CELERY, KOMBU] == read_locked(LOCKED)


def test_the_bill_names_each_package_once_with_what_needs_it() -> None:
    bill = bill_of([CELERY, KOMBU], "1.0")

    assert ("CycloneDX", "1.6") == (bill["bomFormat"], bill["specVersion"])
    assert ["pkg:pypi/celery@5.6.0", "pkg:pypi/kombu-x@5.4"] == [
        component["purl"] for component in bill["components"]
    ]
    assert {
        "vertex@1.0": ["pkg:pypi/celery@5.6.0"],
        "pkg:pypi/celery@5.6.0": ["pkg:pypi/kombu-x@5.4"],
        "pkg:pypi/kombu-x@5.4": [],
    } == {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    assert bill == bill_of([CELERY, KOMBU], "1.0")
    assert bill["serialNumber"] != bill_of([CELERY], "1.0")["serialNumber"]


def test_the_command_writes_the_bill_of_all_locked_requirements(tmp_path: Path) -> None:
    target = tmp_path / "bill.json"
    call_command("bill_of_materials", "--output", target)
    bill = json.loads(target.read_text())

    locked = (product_settings.BASE_DIR / "requirements.txt").read_text()
    assert locked.count("==") == len(bill["components"])
    names = {component["name"] for component in bill["components"]}
    assert {"django", "lxml", "celery", "psycopg-binary"} <= names
    assert all(component["hashes"] for component in bill["components"])
    references = {entry["ref"] for entry in bill["dependencies"]}
    assert {child for entry in bill["dependencies"] for child in entry["dependsOn"]} <= references
    with pytest.raises(CommandError, match="--requirements"):
        call_command("bill_of_materials", "--requirements", tmp_path / "none.txt")


@pytest.mark.usefixtures("loopback")
class TestCheck:
    @pytest.fixture
    def locked(self, tmp_path: Path) -> Path:
        path = tmp_path / "requirements.txt"
        path.write_text(LOCKED)
        return path

    def check(self, locked: Path, address: str) -> tuple[str, str, str]:
        """Return what the command prints, says, and fails with."""
        out, annotated, failure = io.StringIO(), io.StringIO(), ""
        options: dict[str, Any] = {"stdout": out, "stderr": annotated}
        words = ["--check", "--requirements", locked, "--advisories", address]
        try:
            call_command("bill_of_materials", *words, **options)
        except CommandError as error:
            failure = str(error)
        return out.getvalue(), annotated.getvalue(), failure

    def test_known_flaws_are_named_and_fail(self, locked: Path) -> None:
        requested: list[dict[str, Any]] = []

        def answer(request: Asked) -> Answer:
            requested.append(json.loads(request.body))
            rows = [{"vulns": [{"id": "PYSEC-1"}, {"id": "GHSA-2"}]}, {}]
            return Answer(json.dumps({"results": rows}).encode())

        with FakeHost({"/v1": answer}) as host:
            out, _, failure = self.check(locked, f"{host.url}/v1")
        assert "celery 5.6.0: PYSEC-1\ncelery 5.6.0: GHSA-2\n" == out
        assert "2 known vulnerabilities in 1 of 2 packages" == failure
        assert [
            {"package": {"ecosystem": "PyPI", "name": "celery"}, "version": "5.6.0"},
            {"package": {"ecosystem": "PyPI", "name": "kombu-x"}, "version": "5.4"},
        ] == requested[0]["queries"]

    def test_none_are_said_to_be_none(self, locked: Path) -> None:
        with FakeHost({"/v1": Answer(b'{"results": [{}, {}]}')}) as host:
            assert ("", "2 packages, no known vulnerability\n", "") == self.check(
                locked, f"{host.url}/v1"
            )

    @pytest.mark.parametrize(
        "answer",
        [Answer(b"no", 503), Answer(b"<html>"), Answer(b'{"results": [{}]}'), Answer(b"[]"), None],
        ids=["busy", "a page", "half", "a list", "no network"],
    )
    def test_where_nobody_can_be_asked_that_is_said(
        self, locked: Path, answer: Answer | None
    ) -> None:
        if answer is None:
            out, annotated, failure = self.check(locked, "http://127.0.0.1:1/v1")
        else:
            with FakeHost({"/v1": answer}) as host:
                out, annotated, failure = self.check(locked, f"{host.url}/v1")
        assert ("", "") == (out, failure)
        assert annotated.startswith("Not checked: nobody can be asked for known vulnerabilities (")
