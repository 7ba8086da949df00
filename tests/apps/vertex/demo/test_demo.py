"""The demo adds what is missing, undoes nothing, and opens nothing for longer than it takes."""

from __future__ import annotations

import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Vertical
from annotation.services.verticals.verticals import save_vertical
from clustering.models import Page, SearchClick
from vertex import environment
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.people import people
from vertex.demo import demo, logins, serving, sites
from vertex.demo.sites.server import LOOPBACK, DemoServer, free_ports, is_served


@pytest.fixture
def installation(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the demo a folder and ports of its own."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setenv("VERTEX_DEMO_PORT", str(free_ports(len(sites.NAMES))))
    return tmp_path


def take_tour(**options: object) -> str:
    out = StringIO()
    call_command("demo", stdout=out, **options)
    return " ".join(out.getvalue().split())


@pytest.mark.django_db(transaction=True)
class TestTour:
    def test_each_step_tells_what_it_did(self, installation: Path) -> None:
        output = take_tour(max_pages=5)

        assert all(step.title in output for step in demo.STEPS)
        assert "4 sites, 4 of them new" in output
        assert "20 pages stored" in output
        assert sorted(sites.NAMES) == list(Site.objects.values_list("name", flat=True))
        assert {name: sites.load(name).vertical["name"] for name in sites.NAMES} == {
            site.name: site.assignments.get().vertical.name for site in Site.objects.all()
        }
        assert SearchClick.objects.filter(site__name="alpine-shop").count() == len(
            sites.load("alpine-shop").queries
        )

    def test_the_second_tour_adds_nothing(self, installation: Path) -> None:
        take_tour(max_pages=5)
        before = [model.objects.count() for model in (Site, Vertical, User, Job, Page, SearchClick)]
        output = take_tour(max_pages=5)

        assert before == [
            model.objects.count() for model in (Site, Vertical, User, Job, Page, SearchClick)
        ]
        assert output.count("crawled before") == 4

    def test_a_longer_tour_crawls_on(self, installation: Path) -> None:
        take_tour(max_pages=2)
        output = take_tour(max_pages=6)

        assert "24 pages stored" in output
        assert "crawled before" not in output

    def test_a_vertical_that_people_changed_stays_as_they_made_it(self, installation: Path) -> None:
        save_vertical(name="demo_article", attributes=[AttributeType("headline")], actor=None)
        take_tour(max_pages=1)

        article = Vertical.objects.get(name="demo_article")
        assert ["headline"] == [attribute.name for attribute in article.attributes.all()]
        assert Vertical.objects.get(name="demo_product").attributes.count() == 12

    def test_a_site_of_somebody_else_with_the_same_name_is_left_alone(
        self, installation: Path
    ) -> None:
        Site.objects.create(name="alpine-shop", root_url="https://alpine.example/")

        with pytest.raises(
            CommandError, match=r"already a site “alpine-shop”, at https://alpine.example/"
        ):
            take_tour(max_pages=1)
        assert Site.objects.get(name="alpine-shop").root_url == "https://alpine.example/"

    def test_fewer_than_one_page_is_wrong_usage(self, installation: Path) -> None:
        with pytest.raises(CommandError, match="--max-pages: at least 1") as raised:
            take_tour(max_pages=0)
        assert raised.value.returncode == 2

    def test_it_is_refused_in_production(self, installation: Path, settings: Any) -> None:
        settings.PRODUCTION = True

        with pytest.raises(CommandError, match="not for production"):
            take_tour(max_pages=1)
        assert Site.objects.count() == User.objects.count() == 0


@pytest.mark.django_db(transaction=True)
class TestPeople:
    @pytest.fixture(autouse=True)
    def only_people(self, installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(demo, "STEPS", [])

    def test_there_is_one_of_each_role_who_can_log_in(self) -> None:
        output = take_tour()
        passwords = logins.read_logins()

        assert set(Role.values) == set(logins.PEOPLE.values())
        for name, role in logins.PEOPLE.items():
            user = User.objects.get(username=name)
            assert user.has_role(role)
            assert user.check_password(passwords[name])
            assert passwords[name] in output
        assert not User.objects.get(username="viewer").has_role(Role.EDITOR)

    def test_nobody_else_can_read_the_passwords(self) -> None:
        take_tour()

        assert oct(logins.logins_path().stat().st_mode & 0o777) == "0o600"
        assert list(logins.logins_path().parent.glob(".demo-logins*")) == []

    def test_the_same_passwords_are_told_again(self) -> None:
        take_tour()
        before = logins.read_logins()
        output = take_tour()

        assert before == logins.read_logins()
        assert all(password in output for password in before.values())

    def test_a_password_that_was_changed_is_not_told(self) -> None:
        take_tour()
        old = logins.read_logins()["editor"]
        editor = User.objects.get(username="editor")
        people.set_password(user=editor, password="a-better-one-of-my-own", actor=None)
        output = take_tour()

        assert "changed since" in output
        assert old not in output
        editor.refresh_from_db()
        assert editor.check_password("a-better-one-of-my-own")

    def test_an_account_that_was_there_before_is_left_alone(self) -> None:
        admin = people.create_user(username="Admin", password="long-before-the-demo", actor=None)
        output = take_tour()

        admin.refresh_from_db()
        assert "not the demo's" in output
        assert admin.check_password("long-before-the-demo")
        assert not admin.has_role(Role.VIEWER)

    def test_a_run_that_died_before_the_accounts_came_loses_no_password(self) -> None:
        logins.write_logins({"admin": "written-before-it-died"})
        take_tour()

        assert User.objects.get(username="admin").check_password("written-before-it-died")

    def test_a_lost_file_leaves_accounts_and_passwords_as_they_are(self) -> None:
        take_tour()
        password = logins.read_logins()["viewer"]
        logins.logins_path().unlink()
        output = take_tour()

        assert password not in output
        assert User.objects.get(username="viewer").check_password(password)


class TestNetwork:
    def test_loopback_is_open_for_the_tour_alone(self, settings: Any) -> None:
        settings.ALLOWED_NETWORKS = [ipaddress.ip_network("10.0.0.0/8")]
        with serving.loopback_allowed():
            assert [str(network) for network in settings.ALLOWED_NETWORKS] == [
                "10.0.0.0/8",
                "127.0.0.1/32",
            ]

        assert [str(network) for network in settings.ALLOWED_NETWORKS] == ["10.0.0.0/8"]

    def test_it_closes_after_an_error_too(self, settings: Any) -> None:
        with pytest.raises(ZeroDivisionError), serving.loopback_allowed():
            _ = 1 / 0

        assert settings.ALLOWED_NETWORKS == []


class TestServing:
    def test_sites_are_served_as_long_as_the_block_lasts(self, installation: Path) -> None:
        with serving.sites_served():
            assert all(is_served(name, port) for name, port in serving.ports().items())

        assert not any(is_served(name, port) for name, port in serving.ports().items())

    def test_a_site_that_is_served_already_is_used_as_it_is(self, installation: Path) -> None:
        port = serving.ports()["town-guide"]
        with DemoServer(sites.load("town-guide"), port):
            with serving.sites_served():
                assert is_served("town-guide", port)
            assert is_served("town-guide", port)

    def test_the_server_waits_for_a_demo_that_still_holds_the_port(
        self, installation: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(serving, "RETRY_SECONDS", 0.02)
        port = serving.ports()["town-guide"]
        with ThreadPoolExecutor(1) as pool:
            with DemoServer(sites.load("town-guide"), port):
                waiting = pool.submit(serving._open_server, sites.load("town-guide"), port)
                assert not wait([waiting], timeout=0.3).done
            with waiting.result(timeout=60):
                assert is_served("town-guide", port)

    def test_two_demos_that_start_together_do_not_stumble(
        self, installation: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(serving, "RETRY_SECONDS", 0.02)
        port = serving.ports()["town-guide"]
        serve = serving.sites_served()
        with ThreadPoolExecutor(1) as pool:
            with socket.socket() as other:  # it has the port and does not answer yet
                other.bind((LOOPBACK, port))
                waiting = pool.submit(serve.__enter__)
                assert not wait([waiting], timeout=0.3).done
            waiting.result(timeout=60)
        assert is_served("town-guide", port)
        serve.__exit__(None, None, None)

    def test_a_stranger_on_the_port_is_told_with_the_way_out(self, installation: Path) -> None:
        port = serving.ports()["alpine-shop"]
        with ThreadingHTTPServer((LOOPBACK, port), BaseHTTPRequestHandler) as stranger:
            Thread(target=stranger.serve_forever, daemon=True).start()
            with pytest.raises(
                serving.DemoRefused,
                match=rf"port {port} is taken by .*; stop that, or set VERTEX_DEMO_PORT",
            ):
                serving.sites_served().__enter__()
            stranger.shutdown()

    def test_ports_beyond_the_last_are_refused_by_name(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("VERTEX_DEMO_PORT", "65534")

        with pytest.raises(
            environment.BadSetting, match="VERTEX_DEMO_PORT: 65534 leaves no room for 4 ports"
        ):
            serving.ports()


class TestRedesign:
    def test_a_site_that_is_served_shows_the_edition_that_is_asked_for(
        self, installation: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(serving, "EDITION_SECONDS", 0.02)
        with (
            DemoServer(sites.load("alpine-shop"), serving.ports()["alpine-shop"]) as server,
            ThreadPoolExecutor(1) as pool,
        ):
            switched = pool.submit(serving.serve_edition, "alpine-shop", "2")
            while not wait([switched], timeout=0.02).done:
                serving.show_editions([server])
            switched.result()
        assert "2" == server.site.edition == serving.edition_of("alpine-shop")
        assert "1" == serving.edition_of("town-guide")

    def test_where_nothing_serves_it_the_way_out_is_told_and_nothing_is_left(
        self, installation: Path
    ) -> None:
        with pytest.raises(serving.DemoRefused, match=r"manage\.py demo --serve"):
            serving.serve_edition("alpine-shop", "2")
        assert "1" == serving.edition_of("alpine-shop")

    @pytest.mark.django_db
    def test_a_site_without_a_rule_is_not_redesigned(self, installation: Path) -> None:
        with pytest.raises(CommandError, match="take the tour first"):
            call_command("demo", redesign="alpine-shop")
