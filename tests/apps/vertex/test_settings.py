"""An installation's settings: which are required, what is refused, what production switches on."""

import atexit
import ipaddress
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.prepared_python import PreparedPython
from vertex.management.commands import up

KEY = "c2VjcmV0IGtleSBmb3IgdGVzdHMgb25seTogbm90IHVzZWQgYW55d2hlcmUgZWxzZQ"
PRODUCTION = {
    "VERTEX_PRODUCTION": "1",
    "VERTEX_SECRET_KEY": KEY,
    "VERTEX_ALLOWED_HOSTS": "vertex.example",
    "DATABASE_URL": "postgresql://vertex:swordfish@db.example/vertex",
    "BROKER_URL": "amqp://vertex:swordfish@broker.example//",
}


def python(program: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an installation of its own, with nothing set but what is given."""
    inherited = {
        name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ
    }
    variables = (
        inherited
        | {"VERTEX_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "vertex.settings"}
        | environ
    )
    printed = folder.parent / f"{folder.name}-printed"
    printed.mkdir(exist_ok=True)
    return prepared_python().run(program, variables, printed)


@cache  # saves the start of forty processes
def prepared_python() -> PreparedPython:
    prepared = PreparedPython()
    atexit.register(prepared.stop)
    return prepared


def manage(command: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = (
        "from django.core.management import execute_from_command_line as run; "
        f"run({['manage.py', *command.split()]})"
    )
    return python(program, folder, **environ)


def setting(expression: str, folder: Path, **environ: str) -> str:
    ended = python(f"from django.conf import settings; print({expression})", folder, **environ)
    assert 0 == ended.returncode, ended.stderr
    return ended.stdout.strip()


def test_nothing_has_to_be_set_to_try_it_out(tmp_path: Path) -> None:
    assert 0 == manage("check --fail-level WARNING", tmp_path).returncode


def test_production_has_nothing_to_complain_of(tmp_path: Path) -> None:
    ended = manage("check --deploy --fail-level WARNING", tmp_path, **PRODUCTION)

    assert (0, "System check identified no issues (0 silenced).\n") == (
        ended.returncode,
        ended.stdout,
    )


def test_the_check_complains_where_the_profile_is_off(tmp_path: Path) -> None:
    assert 0 != manage("check --deploy --fail-level WARNING", tmp_path).returncode


@pytest.mark.parametrize("name", sorted(set(PRODUCTION) - {"VERTEX_PRODUCTION"}))
def test_what_production_needs_is_named_if_it_is_missing(name: str, tmp_path: Path) -> None:
    ended = manage(
        "check", tmp_path, **{key: value for key, value in PRODUCTION.items() if key != name}
    )

    assert 1 == ended.returncode
    assert f"{name}: must be set; see docs/settings.md" == ended.stderr.strip()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERTEX_SECRET_KEY", "short"),
        ("VERTEX_SECRET_KEY", "a" * 60),
        ("DATABASE_URL", "sqlite:////tmp/vertex.sqlite3"),
        ("DATABASE_URL", "vertex:swordfish@db"),
        ("BROKER_URL", "filesystem://"),
        ("BROKER_URL", "http://vertex:swordfish@broker.example"),
        ("VERTEX_PRODUCTION", "maybe"),
        ("VERTEX_MAX_UPLOAD_MB", "much"),
        ("VERTEX_SESSION_HOURS", "0"),
        ("VERTEX_ALLOWED_NETWORKS", "10.0.0.1/8"),
        ("VERTEX_ALLOWED_PORTS", "http"),
        ("VERTEX_ALLOWED_PORTS", "80,9000-8000"),
        ("VERTEX_ALLOWED_PORTS", "0-70000"),
        ("VERTEX_LOG_LEVEL", "loud"),
        ("VERTEX_PROXIES", "-1"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_without_its_password(
    name: str, value: str, tmp_path: Path
) -> None:
    ended = manage("check", tmp_path, **PRODUCTION | {name: value})

    assert 1 == ended.returncode
    assert ended.stderr.startswith(f"{name}: ")
    assert 1 == len(ended.stderr.splitlines())
    assert "swordfish" not in ended.stderr


def test_production_is_secure_and_other_profiles_work_without_tls(tmp_path: Path) -> None:
    secure = (
        "settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE, "
        "settings.SECURE_SSL_REDIRECT, "
        "settings.SECURE_HSTS_SECONDS > 10**7, settings.DEBUG"
    )

    assert "(True, True, True, True, False)" == setting(f"({secure})", tmp_path, **PRODUCTION)
    assert "(False, False, False, False, False)" == setting(f"({secure})", tmp_path)


def test_a_key_of_its_own_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first = setting("settings.SECRET_KEY", tmp_path)

    assert first == setting("settings.SECRET_KEY", tmp_path)
    assert 0o600 == (tmp_path / "secret-key").stat().st_mode & 0o777


def test_hashed_static_files_can_be_collected(tmp_path: Path) -> None:
    program = """
import whitenoise.compress
from django.core.management import execute_from_command_line
whitenoise.compress.brotli_installed = False  # it takes half a minute and is not what is tested
execute_from_command_line(["manage.py", "collectstatic", "--no-input", "--verbosity", "0"])
"""
    ended = python(program, tmp_path, **PRODUCTION)

    assert 0 == ended.returncode, ended.stderr
    assert (tmp_path / "static" / "staticfiles.json").exists()
    assert list(
        (tmp_path / "static" / "drf_spectacular_sidecar" / "swagger-ui-dist").glob(
            "swagger-ui.*.css"
        )
    )
    scripts = tmp_path / "static" / "clustering" / "js"
    imported = [
        name
        for path in scripts.glob("*.js")
        for name in re.findall(r'from\s*"\./([^"]+)"', path.read_text())
    ]
    assert imported
    assert [] == [name for name in imported if not (scripts / name).exists()]


def test_log_lines_are_json_in_production(tmp_path: Path) -> None:
    program = (
        "import django; django.setup(); import logging; logging.getLogger('x').warning('token=%s', "
        "'swordfish')"
    )
    ended = python(program, tmp_path, **PRODUCTION)

    line = json.loads(ended.stderr)
    assert ("token=[hidden]", "warning", "x") == (line["event"], line["level"], line["logger"])


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:6379/0", "amqp://guest@127.0.0.1//", "memory://"]
)
def test_brokers_that_are_known_are_taken(url: str, tmp_path: Path) -> None:
    assert url == setting("settings.CELERY_BROKER_URL", tmp_path, BROKER_URL=url)


def test_nobody_else_on_the_machine_reads_what_is_kept_in_files(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o755)
    program = (
        "import os; os.umask(0o022); os.execvp({0!r}, [{0!r}, 'manage.py', 'migrate', "
        "'core', '0001'])"
    )
    ended = python(program.format(sys.executable), var)

    assert 0 == ended.returncode, ended.stderr
    open_to_others = [path for path in [var, *var.rglob("*")] if path.stat().st_mode & 0o077]
    assert (var / "vertex.sqlite3").exists()
    assert [] == open_to_others


@pytest.mark.parametrize(
    "setting_of",
    [
        {"VERTEX_ALLOWED_NETWORKS": "0.0.0.0/0"},
        {"VERTEX_ALLOWED_NETWORKS": "10.0.0.0/8,128.0.0.0/1"},
        {"VERTEX_ALLOWED_NETWORKS": "::/0"},
        {"VERTEX_ALLOWED_HOSTS": "*"},
    ],
    ids=str,
)
def test_production_opens_no_door_to_everything(tmp_path: Path, setting_of: dict[str, str]) -> None:
    ended = manage("check", tmp_path, **PRODUCTION | setting_of)

    assert 0 != ended.returncode
    assert next(iter(setting_of)) in ended.stderr
    assert 0 == manage("check", tmp_path, **setting_of).returncode


def test_the_demo_opens_its_own_ports_of_this_machine_only(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERTEX_DEMO_PORT", "9001")
    settings.ALLOWED_NETWORKS = []
    opened = up.demo_environ()
    both = (
        "([str(network) for network in settings.ALLOWED_NETWORKS], sorted(settings.ALLOWED_PORTS))"
    )

    assert "(['127.0.0.1/32'], [9001, 9002, 9003, 9004])" == setting(both, tmp_path, **opened)
    settings.ALLOWED_NETWORKS = [ipaddress.ip_network("10.0.0.0/8")]
    assert {} == up.demo_environ()


def test_a_python_with_known_flaws_is_told(tmp_path: Path) -> None:
    program = """
import sys, django; django.setup()
from vertex.running import logs
logs.SAFE_PYTHONS = {sys.version_info[:2]: (*sys.version_info[:2], 999)}
logs.warn_of_old_python()
"""
    assert "known flaws" in python(program, tmp_path).stderr
    assert "known flaws" not in python(program.replace("999", "0"), tmp_path).stderr
