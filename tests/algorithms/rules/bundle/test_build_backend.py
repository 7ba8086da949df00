"""The package `vertex-rules`: what runs a bundle, below a name of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import orjson
import pytest

from clustering.algorithms.automatic import auto
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import ClusteringInputs, RawPage
from rules.algorithms.running.matching import ClusterProfile, Clusters, GroupModel
from rules.algorithms.running.record_lines import SiteRules
from rules.bundle import build_backend
from rules.bundle.build_backend import build_wheel, needed_modules
from rules.bundle.bundle import REQUIREMENT, Bundle, Fixture, fixture_lines, write_bundle
from rules.bundle.parallel import extract_bundle
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle

NOT_NEEDED = (
    "brotli",
    "dateparser",
    "fastwarc",
    "numpy",
    "phonenumbers",
    "scipy",
    "sklearn",
    "zstandard",
)
MAX_INSTALLED = 25 * 1024 * 1024
WITHOUT_PRODUCT = f"""
import runpy, sys
for name in {NOT_NEEDED}:
    sys.modules[name] = None
sys.argv = ["vertex_rules", *sys.argv[1:]]
try:
    runpy.run_module("vertex_rules", run_name="__main__")
finally:
    own = {{"rules", "clustering", "annotation", "vertex", "monitoring", "django"}}
    assert not own & set(sys.modules), own & set(sys.modules)
"""


def grouped_bundle() -> Bundle:
    """Return a bundle whose clusters are told by the model of `auto`."""
    bundle = made_bundle()
    (rule,) = bundle.rules.rules.values()
    pages = [RawPage(f"http://s.example/p/{n}", body(n)) for n in range(12)]
    observations = [observe(page) for page in pages]
    grouping = auto.cluster_pages([page.url for page in pages], observations, ClusteringInputs())
    model = GroupModel(
        "auto", grouping.model, {group.name: [rule.cluster] for group in grouping.groups}
    )
    clusters = Clusters((ClusterProfile(rule.cluster),), model)
    return replace(bundle, rules=SiteRules(clusters, bundle.rules.rules))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package as it is installed."""
    folder = tmp_path_factory.mktemp("package")
    wheel = folder / build_wheel(str(folder))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def run(package: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    paths = [str(package), sysconfig.get_paths()["purelib"]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PRODUCT, *arguments],
        cwd=package,
        env=environment,
        capture_output=True,
        check=False,
    )


def test_its_lines_are_those_of_extract_bundle(package: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", grouped_bundle())
    pages = tmp_path / "pages"
    pages.mkdir()
    for number in range(5):
        (pages / f"{number}.html").write_bytes(body(number))
    ended = run(package, str(tmp_path / "bundle"), str(pages), "--base-url", "http://s.example/p/")

    assert 0 == ended.returncode, ended.stderr
    expected = list(extract_bundle(tmp_path / "bundle", pages, base_url="http://s.example/p/"))
    assert expected == [orjson.loads(line) for line in ended.stdout.splitlines()]
    assert 5 == len(expected)
    assert all(line["record"] for line in expected)


def test_it_is_small_where_it_is_installed(package: Path) -> None:
    files = [file for file in package.rglob("*") if file.is_file()]
    project = tomllib.loads((Path(build_backend.HERE) / "pyproject.toml").read_text())["project"]
    for name in project["dependencies"]:
        distribution = metadata.distribution(name)
        assert not [needed for needed in distribution.requires or [] if "extra ==" not in needed]
        located = [Path(str(file.locate())) for file in distribution.files or []]
        files += [file for file in located if file.is_file() and file.suffix != ".pyc"]

    assert sum(file.stat().st_size for file in files) <= MAX_INSTALLED


def test_what_is_not_installed_is_named(package: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", grouped_bundle())
    (tmp_path / "pages.warc").write_bytes(b"WARC/1.0\r\n")

    archive = run(package, str(tmp_path / "bundle"), str(tmp_path / "pages.warc"))
    form = orjson.loads((tmp_path / "bundle" / "bundle.json").read_bytes())
    form["clusters"]["variant"] = "signature"
    (tmp_path / "bundle" / "bundle.json").write_bytes(orjson.dumps(form))
    signatures = run(package, str(tmp_path / "bundle"), str(tmp_path / "pages.warc"))

    assert (1, 1) == (archive.returncode, signatures.returncode)
    assert b"pip install 'vertex-rules[archives]'" in archive.stderr
    assert b"pip install 'vertex-rules[algorithms]'" in signatures.stderr


def test_its_fixtures_are_checked(package: Path, tmp_path: Path) -> None:
    bundle = grouped_bundle()
    page = RawPage("http://s.example/p/1", body(1), "text/html; charset=utf-8")
    write_bundle(tmp_path / "bundle", bundle, [Fixture(page, fixture_lines(page, bundle.rules))])

    assert 0 == run(package, str(tmp_path / "bundle"), "--check").returncode


def test_a_folder_that_is_no_bundle_is_told(package: Path, tmp_path: Path) -> None:
    ended = run(package, str(tmp_path), str(tmp_path))

    assert (1, 1) == (ended.returncode, len(ended.stderr.splitlines()))


def test_it_holds_nothing_of_the_web_application(package: Path) -> None:
    assert {"vertex_rules"} == {
        path.name for path in package.iterdir() if not path.name.endswith(".dist-info")
    }
    assert not [name for name in needed_modules() if ".views" in name or ".models" in name]


def test_spiders_name_its_middleware_and_it_needs_no_scrapy(package: Path) -> None:
    paths = [str(package), sysconfig.get_paths()["purelib"]]
    code = "import sys; from vertex_rules import PushPages; assert 'scrapy' not in sys.modules"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)}

    subprocess.run([sys.executable, "-c", code], cwd=package, env=environment, check=True)


def test_bundles_name_its_version() -> None:
    project = tomllib.loads((build_backend.HERE / "pyproject.toml").read_text())["project"]

    assert f"{project['name']}=={project['version']}" == REQUIREMENT
