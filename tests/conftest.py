"""What all tests share: an own installation, thrown away at the end, and the servers they need."""

from __future__ import annotations

import atexit
import ipaddress
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import django
import hypothesis
import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import installation, servers

# Settings are read from the environment at the first look at them, so this comes before.
INSTALLATION = Path(
    tempfile.mkdtemp(prefix=f"vertex-tests-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-")
)
atexit.register(shutil.rmtree, INSTALLATION, ignore_errors=True)
KEPT = ("VERTEX_TEST_", "VERTEX_FULL", "VERTEX_CHROMIUM")
for name in [
    name for name in os.environ if name.startswith("VERTEX_") and not name.startswith(KEPT)
]:
    del os.environ[name]
os.environ.pop("BROKER_URL", None)
os.environ["VERTEX_VAR"] = str(INSTALLATION / "var")
os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
# Chromium without windows, Debian's package of the same version, needs a quarter less of
# the processor.
if headless_shell := shutil.which("chromium-headless-shell"):
    os.environ.setdefault("VERTEX_CHROMIUM", headless_shell)
# Workers and what they start share the cores: threads of a fit that wait for each other by turning
# take them all.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Playwright keeps an event loop running beside the tests.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

# A suite that a shell started in the background ignores SIGINT, and so would the programs that
# it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
import_module("vertex.celery")  # Celery looks for the name of the settings when its app is made

if INSTALLATION not in django_settings.VAR_DIR.parents:
    raise pytest.UsageError(
        "unset DJANGO_SETTINGS_MODULE: the tests make an installation of their own"
    )
# xdist's workers inherit it and would read settings before this file.
del os.environ["DJANGO_SETTINGS_MODULE"]
DATABASE = django_settings.DATABASES["default"]
IS_POSTGRES = DATABASE["ENGINE"].endswith("postgresql")
if not IS_POSTGRES:
    # A file, not memory: threads and processes then meet the locks that they meet in
    # an installation.
    DATABASE.setdefault("TEST", {})["NAME"] = str(INSTALLATION / "test.sqlite3")
    DATABASE["OPTIONS"]["init_command"] += "; PRAGMA synchronous=OFF"
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast
django.setup()  # so that the conftest files below may import models


def leave_to_the_kernel(_descriptor: int) -> None:
    """Let a test that ends not wait for the disk: what it wrote need not outlast a power cut."""


os.fsync = leave_to_the_kernel  # type: ignore[assignment]

# Their tests share what takes seconds to build: the demo, its sites, a web process, the
# parsed product.
WHOLE_FILES = {
    "tests/apps/vertex/demo/sites/test_server.py",
    "tests/apps/vertex/demo/sites/test_sites.py",
    "tests/apps/vertex/demo/test_demo.py",
    "tests/apps/vertex/demo/test_demo_rules.py",
    "tests/apps/vertex/running/test_page_requests.py",
    "tests/house/test_reading.py",
    "tests/house/test_words.py",
    "tests/journeys/test_demo.py",
    "tests/journeys/test_fetch_survives_kill.py",
}
IS_FULL = os.environ.get("VERTEX_FULL") == "1"
COMMON = hypothesis.settings(deadline=None, database=None, print_blob=True)
# The same examples in each run, so that a change is judged by what it changes; others in the
# full runs.
hypothesis.settings.register_profile("small", COMMON, max_examples=25, derandomize=True)
hypothesis.settings.register_profile("full", COMMON, max_examples=1000)
hypothesis.settings.load_profile("full" if IS_FULL else "small")


def pytest_configure(config: pytest.Config) -> None:
    """Migrate a database on the server once, before the workers start that copy it."""
    if IS_POSTGRES and not hasattr(config, "workerinput"):
        server_url = os.environ["DATABASE_URL"]
        name = installation.migrated_database(server_url)
        os.environ[installation.MIGRATED_DATABASE] = f"{server_url.rpartition('/')[0]}/{name}"


class WholeFilesScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker all tests of some files, and the others one by one, in the order of the run.

    A test that commits leaves rings in the broker of its worker: all that do not commit, of
    whatever file, are before.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file in WHOLE_FILES else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Build once what the tests of a file share.

    The groups of pytest-xdist group nothing with pytest 9.
    """
    return WholeFilesScheduling(config, log)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep the file copied below as the tests' database; a server's database is dropped."""
    return not IS_POSTGRES


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Begin with a migrated database instead of migrating one."""
    if IS_POSTGRES:
        DATABASE["TEST"]["TEMPLATE"] = installation.migrated_database(os.environ["DATABASE_URL"])
    else:
        shutil.copy(installation.migrated_file(), DATABASE["TEST"]["NAME"])


def empty_tables(_: TransactionTestCase) -> None:
    """Delete the rows that a test without a transaction of its own has left.

    Django's own way empties all tables and writes its permissions anew, which nobody reads here:
    half a second of PostgreSQL after each of hundreds of tests.
    """
    quoted = map(connection.ops.quote_name, connection.introspection.django_table_names())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(
                f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in quoted
            )
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {table}")


TransactionTestCase._fixture_teardown = empty_tables  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Let each test connect anywhere: an earlier one may have run a program in this process."""
    import_module("clustering.fetching.way_out").connection_watch.is_service = None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose server is missing, with the reason; measurements belong to the full runs."""
    # The longest first, so that none is left over at the end; last in the pass that runs beside
    # the other one and is shorter, so that not all journeys of both are under way at once.
    are_last = IS_POSTGRES and not IS_FULL
    items.sort(key=lambda item: ("journeys" in item.path.parts) == are_last)
    reasons = {
        "postgres": _why_not_postgres(),
        "redis": _why_not(servers.find_redis, servers.REDIS_URL),
        "bar": "" if IS_FULL else "a measurement: make bars",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _why_not_postgres() -> str:
    return "" if IS_POSTGRES else "needs PostgreSQL: python -m tests.servers --postgres -- pytest …"


def _why_not(find: object, variable: str) -> str:
    """Return the reason why a server cannot be used; blank if it can."""
    if os.environ.get(variable):
        return ""
    try:
        assert callable(find)
        find()
    except servers.ServerMissing as missing:
        return f"SERVER NOT FOUND. {missing}"
    return ""


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with servers.redis() as url:
        yield url


@pytest.fixture(scope="session")
def rabbitmq_url() -> Iterator[str]:
    if reason := _why_not(servers.find_rabbitmq, servers.RABBITMQ_URL):
        pytest.skip(reason)
    with servers.rabbitmq() as url:
        yield url


@pytest.fixture(autouse=True)
def own_folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give each test that uses the database a page store of its own."""
    uses_database = {"db", "transactional_db", "live_server"} & set(request.fixturenames)
    if not uses_database and request.node.get_closest_marker("django_db") is None:
        return
    settings = request.getfixturevalue("settings")
    folder = tmp_path_factory.mktemp("installation")
    settings.PAGE_STORE_DIR = folder / "pages"
    settings.OBSERVATION_DIR = folder / "observations"
    settings.UPLOAD_DIR = folder / "uploads"
    settings.READING_DIR = folder / "reading"
    settings.EXPORT_DIR = folder / "exports"
    # Counts of API calls: those of one test are not held against the next.
    settings.CACHES = {
        "default": settings.CACHES["default"] | {"LOCATION": folder / "cache"},
    }


@pytest.fixture
def loopback(request: pytest.FixtureRequest) -> None:
    """Let the fetcher reach servers on this machine, which it refuses otherwise."""
    settings = request.getfixturevalue("settings")
    settings.ALLOWED_NETWORKS = [
        ipaddress.ip_network(network) for network in ("127.0.0.0/8", "::1/128")
    ]
