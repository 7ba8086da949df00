"""A Scrapy project and web-poet pages as text."""

from __future__ import annotations

import ast

import pytest

from rules.bundle.scrapy_export import page_type, project_files

ROOT = "http://s.example:80/x"


@pytest.mark.parametrize(
    "site", ["shop", 'my shop\'s "site"', "3d-prints", '"""\nimport os', "日本"]
)
def test_modules_are_python_whatever_the_site_is_called(site: str) -> None:
    files = project_files(site, ROOT, "vertex-rules==1")
    for name in ("spider.py", "page.py", "settings.py"):
        imported = [
            alias.name
            for node in ast.walk(ast.parse(files[name]))
            if isinstance(node, ast.Import)
            for alias in node.names
        ]
        assert "os" not in imported
    assert page_type(site, ROOT).partition(".")[2] in files["page.py"]


def test_the_spider_needs_scrapy_and_the_package_only() -> None:
    tree = ast.parse(project_files("shop", ROOT, "vertex-rules==1")["spider.py"])
    imported = {
        node.module.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert {"pathlib", "scrapy", "vertex_rules"} == imported


def test_a_host_with_a_port_is_followed() -> None:
    spider = project_files("shop", ROOT, "vertex-rules==1")["spider.py"]
    assert "allowed_domains = ['s.example']" in spider
    assert "allow_domains=['s.example:80']" in spider


def test_one_request_at_a_time_waits_for_robots() -> None:
    assert '"CONCURRENT_REQUESTS": 1' in project_files("shop", ROOT, "x")["spider.py"]


def test_what_scrapy_does_with_robots_is_told() -> None:
    spider = project_files("shop", ROOT, "x")["spider.py"]
    result = ast.get_docstring(ast.parse(spider)) or ""
    assert all(
        word in result for word in ("robots.txt", "Crawl-delay", "Retry-After", "certificates")
    )


def test_its_pages_can_be_pushed() -> None:
    assert (
        '"SPIDER_MIDDLEWARES": {"vertex_rules.PushPages": 10}'
        in project_files("shop", ROOT, "x")["spider.py"]
    )


def test_what_to_install_stands_beside() -> None:
    assert "vertex-rules==1" in project_files("shop", ROOT, "vertex-rules==1")["requirements.txt"]
