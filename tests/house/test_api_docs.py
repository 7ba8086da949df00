"""What docs/api.md tells can be pasted and works, and its table has every address."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.apps.clustering.api_cast import caller, page_of, site_of
from tests.apps.rules.record_cast import record_of, rule_of
from vertex.api import schema_of_routes
from vertex.core.models import Role, Scope

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


def environment(live_server: LiveServer) -> dict[str, str]:
    key = caller("ada", Role.ADMINISTRATOR).key
    rule = rule_of(site_of("shop"))
    record_of(rule, page_of(rule.cluster.site, "p/1")), page_of(site_of("guide"), "b/1")
    return os.environ | {"VERTEX": live_server.url, "TOKEN": key, "no_proxy": "*"}


@pytest.mark.django_db(transaction=True)
def test_the_client_works_as_pasted(live_server: LiveServer) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "".join(blocks("python"))],
        env=environment(live_server),
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == ended.returncode, ended.stderr
    assert ["shop https://shop.example/p/1", "guide https://guide.example/b/1"] == [
        line.rpartition(" ")[0] for line in ended.stdout.splitlines()[:2]
    ]
    assert ["https://shop.example/p/1 {'name': 'Trail Runner',"] == [
        line.partition(" 'price'")[0] for line in ended.stdout.splitlines()[2:]
    ]


@pytest.mark.django_db(transaction=True)
def test_the_calls_from_the_shell_work_as_pasted(live_server: LiveServer, tmp_path: Path) -> None:
    (tmp_path / "pages.zip").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    environ = environment(live_server)
    answers = [
        subprocess.run(
            ["sh", "-c", call],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for call in blocks("sh")
    ]

    assert '"name":"guide"' in answers[0]
    assert '"task":"clustering.import_pages"' in answers[1]


def test_every_address_is_in_the_table() -> None:
    result = re.sub(r"`…/", "`{id}/", DOCUMENT)
    missing = [
        path
        for path in schema_of_routes()["paths"]
        if f"`{path.removeprefix('/api/v1/')}`" not in result
        and f"`{{id}}/{path.rsplit('/', 2)[1]}/`" not in result
    ]

    assert [] == missing


def test_every_scope_of_the_api_is_in_the_table() -> None:
    assert [scope for scope in Scope.values if f"`{scope}`" not in DOCUMENT] == []
