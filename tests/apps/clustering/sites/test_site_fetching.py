"""How a site is fetched is set by browser, command and API; what is secret stays secret."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.models import Cluster, SiteFetching
from clustering.services.crawl import crawling
from clustering.services.crawl.site_sessions import session_of
from clustering.services.sites.site_export import export_request
from clustering.services.sites.site_fetching import REFUSED_HEADERS, change_fetching
from clustering.services.sites.sites import BadSite
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.cluster_cast import shop_of
from vertex.core.models import AuditEntry, Job, Membership, Role, Site, User
from vertex.core.services.files.backup import backup
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import run_here

pytestmark = pytest.mark.django_db

SECRETS = {"token-s3cret", "cookie-s3cret", "word-s3cret", "proxy-s3cret"}
ALL = {
    "user_agent": "Reader/2",
    "headers": {"authorization": "Bearer token-s3cret"},
    "cookies": {"consent": "cookie-s3cret"},
    "log_in_url": "https://shop.example/login",
    "log_in_fields": {"user": "ada", "password": "word-s3cret"},
    "log_in_sign": "Log out",
    "proxy": "proxy.example:3128",
    "proxy_user": "vertex",
    "proxy_password": "proxy-s3cret",
}


@pytest.fixture(autouse=True)
def allowed_proxy(settings: Any) -> None:
    settings.FETCH_PROXIES = ["proxy.example:3128"]


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url="https://shop.example/")


def browser(role: Role) -> Client:
    user = User.objects.create_user(role)
    Membership.objects.create(user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def assert_no_secret(text: str) -> None:
    assert [secret for secret in SECRETS if secret in text] == []


def test_a_session_has_what_was_set(shop: Site) -> None:
    change_fetching(site=shop, actor=None, **ALL)
    session = session_of(shop)

    assert session is not None
    assert session.user_agent == "Reader/2"
    assert session.headers == {"Authorization": "Bearer token-s3cret"}
    assert session.cookies == {"consent": "cookie-s3cret"}
    assert session.log_in is not None
    assert session.log_in.fields == {"user": "ada", "password": "word-s3cret"}
    assert session.proxy is not None
    assert (session.proxy.name, session.proxy.password) == ("proxy.example:3128", "proxy-s3cret")
    assert_no_secret(repr(session))


def test_what_is_not_named_stays_and_null_removes(shop: Site) -> None:
    change_fetching(site=shop, actor=None, **ALL)
    change_fetching(site=shop, actor=None, headers={"X-Other": "1", "Authorization": None})
    row = SiteFetching.objects.get()

    assert [*row.headers] == ["X-Other"]
    assert [*row.cookies] == ["consent"]
    change_fetching(site=shop, actor=None, log_in_url="", proxy="")
    row.refresh_from_db()
    assert (row.log_in_fields, row.log_in_sign, row.proxy_password) == ({}, "", "")


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_secrets_are_in_no_row_audit_export_or_backup(shop: Site, tmp_path: Path) -> None:
    change_fetching(site=shop, actor=None, **ALL)
    row = SiteFetching.objects.values().get()
    [entry] = AuditEntry.objects.filter(action="site.fetching_changed")
    result = run_here(export_request(site=shop)).result
    backup(tmp_path / "all.tar")

    assert result is not None
    assert_no_secret(json.dumps(row, default=str))
    assert_no_secret(json.dumps(entry.detail))
    assert entry.detail["headers"] == {"set": ["Authorization"]}
    assert entry.detail["proxy_password"] == "set"
    assert_no_secret(_all_text(tmp_path / "all.tar"))
    assert "Authorization" in json.dumps(row, default=str), "the control: names can be read"


def _all_text(archive: Path) -> str:
    with tarfile.open(archive) as opened:
        parts = [opened.extractfile(member) for member in opened.getmembers()]
        bodies = [part.read() for part in parts if part]
    texts = [
        zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body)).read()
        if body.startswith(b"\x28\xb5\x2f\xfd")
        else body
        for body in bodies
    ]
    text = b"\n".join(texts).decode(errors="replace")
    assert "Reader/2" in text, "the control: rows can be read"
    return text


def test_after_another_key_a_crawl_fails_and_says_what_to_do(shop: Site, settings: Any) -> None:
    change_fetching(site=shop, actor=None, headers={"X-Key": "token-s3cret"})
    settings.SECRET_KEY = "another" * 10
    job = jobs.create_job(
        task="clustering.crawl_site",
        queue=Job.Queue.FETCH,
        title="Crawl",
        site=shop,
        params=crawling.crawl_request(site=shop).params,
        rings=False,
    )
    job = jobs.run_job(job.pk, crawling.crawl)

    assert "enter it again" in job.error
    assert_no_secret(job.error)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *(({"headers": {name.lower(): "x"}}, "headers") for name in REFUSED_HEADERS),
        ({"headers": {"X-Key": "a\r\nHost: b"}}, "headers"),
        ({"headers": {"X Key": "a"}}, "headers"),
        ({"headers": {"X-Key": ""}}, "headers"),
        ({"headers": {f"X-{n}": "a" for n in range(31)}}, "headers"),
        ({"cookies": {"a": "b; c=d"}}, "cookies"),
        ({"cookies": {"a=b": "c"}}, "cookies"),
        ({"user_agent": "R\x00"}, "user_agent"),
        ({"user_agent": "Lesegerät"}, "user_agent"),
        ({"proxy": "127.0.0.1:3128"}, "proxy"),
        ({"proxy": "proxy.example:22"}, "proxy"),
        ({**ALL, "log_in_url": "https://other.example/"}, "log_in_url"),
        ({**ALL, "log_in_url": "http://shop.example/login"}, "log_in_url"),
        ({**ALL, "log_in_url": "javascript:1"}, "log_in_url"),
        ({**ALL, "log_in_sign": ""}, "log_in_sign"),
        ({**ALL, "log_in_fields": {}}, "log_in_fields"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_its_field(
    shop: Site, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadSite) as refused:
        change_fetching(site=shop, actor=None, **change)

    assert [field] == list(refused.value.message_dict)
    assert_no_secret(str(refused.value))
    assert not SiteFetching.objects.exists()


class TestBrowser:
    ADDRESS = "site_fetching"

    def post(self, client: Client, **fields: Any) -> Any:
        entered = {"fetcher": "plain", "crawl_delay": "2.5", "obey_robots": "on"} | fields
        return client.post(reverse(self.ADDRESS, args=["shop"]), entered, follow=True)

    def test_it_is_saved_and_no_value_is_shown_again(self, shop: Site) -> None:
        operator = browser(Role.OPERATOR)
        answer = self.post(
            operator,
            fetcher="browser",
            user_agent="Reader/2",
            new_headers="Authorization: Bearer token-s3cret\n\nX-Other: 1",
            new_cookies="consent=cookie-s3cret",
            proxy="proxy.example:3128",
            proxy_password="proxy-s3cret",
            log_in_url="https://shop.example/login",
            new_log_in_fields="user=ada\npassword=word-s3cret",
            log_in_sign="Log out",
        )
        text = answer.content.decode()
        shop.refresh_from_db()

        assert (shop.crawl_delay, shop.render) == (2.5, True)
        assert "The next crawl logs in." in text
        assert all(name in text for name in ("Authorization", "X-Other", "consent", "password"))
        assert_no_secret(text)
        assert AuditEntry.objects.filter(action="site.fetching_changed").exists()

        self.post(
            operator,
            removed_headers="X-Other",
            proxy="proxy.example:3128",
            log_in_url="https://shop.example/login",
            log_in_sign="Log out",
        )
        row = SiteFetching.objects.get()
        assert [*row.headers] == ["Authorization"]
        assert [*row.log_in_fields] == ["user", "password"]
        assert row.proxy_password

    def test_what_is_wrong_stands_at_its_field_and_repeats_no_secret(self, shop: Site) -> None:
        answer = self.post(
            browser(Role.OPERATOR),
            new_headers="Bearer token-s3cret",
            new_cookies="a=b c-cookie-s3cret",
            log_in_url="https://other.example/",
        )
        text = answer.content.decode()

        assert answer.status_code == 400
        assert "Line 1 has no" in text
        assert "enter them once more" in text
        assert_no_secret(text)
        answer = self.post(browser(Role.ADMINISTRATOR), log_in_url="https://other.example/")
        assert answer.context["form"].errors["log_in_url"]

    def test_the_form_takes_the_pause_that_another_way_has_set(self, shop: Site) -> None:
        Site.objects.update(crawl_delay=0.25)
        answer = browser(Role.OPERATOR).get(reverse(self.ADDRESS, args=["shop"]))
        assert 'value="0.25" step="any"' in answer.content.decode(), "the browser would refuse it"

    def test_an_empty_site_says_so(self, shop: Site, settings: Any) -> None:
        settings.FETCH_PROXIES = []
        text = browser(Role.OPERATOR).get(reverse(self.ADDRESS, args=["shop"])).content.decode()
        assert "Nobody is logged in: the site shows what it shows to everybody." in text
        assert "VERTEX_FETCH_PROXIES" in text
        assert text.count("It has none of its own.") == 2

    def test_a_failed_log_in_is_said_here_and_on_the_site_page(self, shop: Site) -> None:
        change_fetching(site=shop, actor=None, **ALL)
        SiteFetching.objects.update(log_in_problem="the form has gone")
        operator = browser(Role.OPERATOR)
        for name in (self.ADDRESS, "site"):
            assert (
                "the form has gone" in operator.get(reverse(name, args=["shop"])).content.decode()
            )

    def test_a_crawl_that_nobody_is_logged_in_for_says_why_once(self, shop: Site) -> None:
        change_fetching(site=shop, actor=None, **ALL)
        SiteFetching.objects.update(log_in_problem="the form has gone")
        Job.objects.create(
            site=shop,
            task="clustering.crawl_site",
            queue=Job.Queue.FETCH,
            title="Crawl shop",
            state=Job.State.FAILED,
            finished_at=timezone.now(),
            error="nobody is logged in at shop: the form has gone. What is stored stays",
        )
        page = browser(Role.OPERATOR).get(reverse("site", args=["shop"])).content.decode()
        overview, recent = page.split('id="recent"')

        assert overview.count("the form has gone") == 1
        assert overview.count(reverse(self.ADDRESS, args=["shop"]) + "#log-in") == 1
        assert "Crawl shop" in recent

    def test_the_password_of_the_log_in_is_typed_unseen(self, shop: Site) -> None:
        operator = browser(Role.OPERATOR)
        text = operator.get(reverse(self.ADDRESS, args=["shop"])).content.decode()
        field = next(part for part in text.split("<input")[1:] if 'name="log_in_password"' in part)
        assert 'type="password"' in field
        assert 'autocomplete="new-password"' in field

        entered = {"log_in_url": "https://shop.example/login", "log_in_sign": "Log out"}
        entered["new_log_in_fields"] = "user=ada"
        answer = self.post(operator, **entered, log_in_password="word-s3cret")
        assert answer.context["form"].errors["log_in_password_name"]
        answer = self.post(operator, **entered, log_in_password_name="pass")
        assert answer.context["form"].errors["log_in_password"]
        assert SiteFetching.objects.count() == 0
        answer = self.post(
            operator, **entered, log_in_password_name="pass", log_in_password=" word-s3cret "
        )
        assert_no_secret(answer.content.decode())

        session = session_of(shop)
        assert session is not None
        assert session.log_in is not None
        assert session.log_in.fields == {"user": "ada", "pass": " word-s3cret "}

    def test_a_reviewer_may_not_see_it(self, shop: Site) -> None:
        assert 403 == self.post(browser(Role.REVIEWER)).status_code


class TestRenderedClusters:
    """A browser fetches the pages of chosen clusters: set in the browser, by command and by API."""

    def rendered(self) -> set[str]:
        return set(Cluster.objects.filter(is_rendered=True).values_list("name", flat=True))

    def test_they_are_ticked(self) -> None:
        site = shop_of({"deals": "ab", "texts": "c"}).site
        operator = browser(Role.OPERATOR)
        address = reverse("site_fetching", args=[site.name])
        entered = {"fetcher": "plain", "crawl_delay": "2.5", "rendered_clusters": ["deals"]}
        text = operator.post(address, entered, follow=True).content.decode()

        assert {"deals"} == self.rendered()
        assert ("checked" in text, 'value="texts"' in text) == (True, True)
        entry = AuditEntry.objects.filter(action="site.fetching_changed").latest("pk")
        assert {"rendered_clusters": {"was": [], "now": ["deals"]}} == entry.detail
        operator.post(address, {"fetcher": "plain", "crawl_delay": "2.5"})
        assert set() == self.rendered()

    def test_a_site_without_clusters_says_so(self, shop: Site) -> None:
        answer = browser(Role.OPERATOR).get(reverse("site_fetching", args=[shop.name]))
        assert "Once the site is clustered" in answer.content.decode()

    def test_the_api_takes_and_shows_them(self) -> None:
        shop_of({"deals": "ab", "texts": "c"})
        ada = caller("ada", Role.OPERATOR)
        answer = ada.patch("sites/shop/fetching/", {"rendered_clusters": ["texts", "deals"]})
        assert ["deals", "texts"] == answer.json()["rendered_clusters"]
        refused = ada.patch("sites/shop/fetching/", {"rendered_clusters": ["deal"]})
        assert (400, ["rendered_clusters"]) == (
            refused.status_code,
            [*refused.json()["error"]["fields"]],
        )
        assert {"deals", "texts"} == self.rendered()

    def test_the_command_takes_and_writes_them(self, tmp_path: Path) -> None:
        shop_of({"deals": "ab", "texts": "c"})
        (tmp_path / "changes.json").write_text('{"rendered_clusters": ["deals"]}')
        output = tmp_path / "out.jsonl"
        call_command(
            "site_fetching", "shop", change=str(tmp_path / "changes.json"), output=str(output)
        )
        assert ["deals"] == json.loads(output.read_text())["rendered_clusters"]
        (tmp_path / "changes.json").write_text('{"rendered_clusters": "deals"}')
        with pytest.raises(CommandError, match="rendered_clusters is no list of texts"):
            call_command("site_fetching", "shop", change=str(tmp_path / "changes.json"))


class TestApi:
    @pytest.fixture
    def ada(self) -> Caller:
        return caller("ada", Role.OPERATOR)

    def test_it_is_changed_and_shown_without_values(self, ada: Caller, shop: Site) -> None:
        answer = ada.patch("sites/shop/fetching/", ALL | {"render": True, "crawl_delay": 3})
        shop.refresh_from_db()

        assert answer.status_code == 200
        assert answer.json() == ada.get("sites/shop/fetching/").json()
        assert answer.json()["headers"] == ["Authorization"]
        assert answer.json()["log_in_fields"] == ["password", "user"]
        assert answer.json()["has_proxy_password"] is True
        assert (shop.render, shop.crawl_delay) == (True, 3.0)
        assert_no_secret(answer.content.decode())

    def test_what_is_wrong_is_named_and_not_repeated(self, ada: Caller, shop: Site) -> None:
        answer = ada.patch("sites/shop/fetching/", {"headers": {"Host": "token-s3cret"}})

        assert (answer.status_code, [*answer.json()["error"]["fields"]]) == (400, ["headers"])
        assert_no_secret(answer.content.decode())


class TestCommand:
    def run(self, tmp_path: Path, changes: object) -> dict[str, Any]:
        file = tmp_path / "changes.json"
        file.write_text(json.dumps(changes))
        output = tmp_path / "out.jsonl"
        call_command("site_fetching", "shop", change=str(file), output=str(output))
        line: dict[str, Any] = json.loads(output.read_text())
        return line

    def test_it_changes_and_writes_how_the_site_is_fetched(
        self, shop: Site, tmp_path: Path
    ) -> None:
        annotated = self.run(tmp_path, ALL | {"crawl_delay": 2})

        assert (annotated["site"], annotated["crawl_delay"], annotated["cookies"]) == (
            "shop",
            2.0,
            ["consent"],
        )
        assert_no_secret(json.dumps(annotated))
        entry = AuditEntry.objects.get(action="site.fetching_changed")
        assert entry.actor_name == "command line"

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"header": {}}, "unknown 'header'"),
            ({"headers": "token-s3cret"}, "headers is no object"),
            ({"cookies": {"a": 1}}, "cookies is no object"),
            ({"crawl_delay": True}, "crawl_delay is no number"),
            ([1], "no JSON object"),
        ],
    )
    def test_what_is_wrong_is_one_line(
        self, shop: Site, tmp_path: Path, changes: object, problem: str
    ) -> None:
        with pytest.raises(CommandError, match=problem) as failed:
            self.run(tmp_path, changes)
        assert_no_secret(str(failed.value))
