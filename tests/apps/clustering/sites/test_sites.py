"""A site has a name, a root and settings, all checked; each change has an audit entry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from clustering.services.sites.sites import BadSite, SiteExists, add_site, change_site
from vertex.core.models import AuditEntry, Site, User

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
ROOT = "http://shop.example/"


@pytest.fixture
def olga() -> User:
    user: User = User.objects.create_user("olga")
    return user


class TestAdding:
    def test_creates_a_site_with_a_normal_root(self, olga: User) -> None:
        site = add_site(
            name="shop",
            root_url="HTTP://Shop.example:80/#top",
            actor=olga,
            title=" The\n shop ",
            crawl_delay=0,
        )
        site.refresh_from_db()
        assert ("shop", ROOT, "The shop", 0.0, olga) == (
            site.name, site.root_url, site.title, site.crawl_delay, site.created_by,
        )  # fmt: skip
        entry = AuditEntry.objects.get()
        assert ("olga", "site.created", "shop", site) == (
            entry.actor_name,
            entry.action,
            entry.subject,
            entry.site,
        )
        assert ROOT == entry.detail["root_url"]

    def test_twice_gives_the_same_site(self) -> None:
        assert add_site(name="shop", root_url=ROOT, actor=None) == add_site(
            name="shop", root_url="http://shop.example", actor=None
        )
        assert (1, 1) == (Site.objects.count(), AuditEntry.objects.count())

    def test_at_once_gives_one_site(self) -> None:
        def add(_: int) -> Site:
            try:
                return add_site(name="shop", root_url=ROOT, actor=None)
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as people:
            assert 1 == len({site.pk for site in people.map(add, range(8))})

    def test_refuses_a_name_that_another_root_has(self) -> None:
        add_site(name="shop", root_url=ROOT, actor=None)
        with pytest.raises(
            SiteExists, match=r"“shop”, at http://shop\.example/; choose another name"
        ):
            add_site(name="shop", root_url="http://other.example/", actor=None)

    def test_refuses_the_name_of_a_site_that_is_being_deleted(self) -> None:
        add_site(name="shop", root_url=ROOT, actor=None)
        Site.objects.update(deletion_requested_at=timezone.now())
        with pytest.raises(SiteExists, match="is being deleted"):
            add_site(name="shop", root_url=ROOT, actor=None)

    @pytest.mark.parametrize(
        "name", ["", "a b", "-a", ".a", "a/b", "../a", "a" * 64, "ä", "a\n", "a\0"]
    )
    def test_refuses_what_is_no_name(self, name: str) -> None:
        with pytest.raises(BadSite, match="Use 1 to 63 letters") as caught:
            add_site(name=name, root_url=ROOT, actor=None)
        assert ["name"] == list(caught.value.message_dict)
        assert 0 == Site.objects.count()

    @pytest.mark.parametrize("name", ["a", "A.b_c-9", "a" * 63])
    def test_takes_what_is_a_name(self, name: str) -> None:
        assert name == add_site(name=name, root_url=ROOT, actor=None).name

    @pytest.mark.parametrize(
        "root",
        [
            "",
            "shop.example",
            "ftp://shop.example/",
            "http://a@shop.example/",
            "http://" + "a" * 3000,
        ],
    )
    def test_refuses_what_is_no_address(self, root: str) -> None:
        with pytest.raises(BadSite) as caught:
            add_site(name="shop", root_url=root, actor=None)
        assert ["root_url"] == list(caught.value.message_dict)


class TestChanging:
    def test_changes_what_is_given_and_tells_it(self, olga: User) -> None:
        site = add_site(name="shop", root_url=ROOT, actor=None, title="Shop")
        hosts = ["IMG.shop.example", "img.shop.example", " cdn.example:8080 ", ""]
        change_site(
            site=site, actor=olga, extra_hosts=hosts, render=True, crawl_delay=1.0, snapshots_kept=3
        )
        stored = Site.objects.get()
        assert ["img.shop.example", "cdn.example:8080"] == stored.extra_hosts == site.extra_hosts
        assert ("Shop", True, 1.0, 3) == (
            stored.title,
            stored.render,
            stored.crawl_delay,
            stored.snapshots_kept,
        )
        entry = AuditEntry.objects.get(action="site.changed")
        assert {"extra_hosts", "render", "snapshots_kept"} == set(entry.detail)
        assert {"was": None, "now": 3} == entry.detail["snapshots_kept"]

    def test_to_what_it_was_tells_nothing(self) -> None:
        site = add_site(name="shop", root_url=ROOT, actor=None)
        change_site(site=site, actor=None, crawl_delay=1, render=False, title="")
        assert ["site.created"] == list(AuditEntry.objects.values_list("action", flat=True))

    @pytest.mark.parametrize(
        ("setting", "value"),
        [
            ("title", "x" * 201),
            ("crawl_delay", -0.1),
            ("crawl_delay", 3601),
            ("crawl_delay", float("nan")),
            ("crawl_delay", float("inf")),
            ("snapshots_kept", 0),
            ("snapshots_kept", 10_001),
            ("match_by", "magic"),
            ("country", "XX"),
            ("extra_hosts", ["a b"]),
            ("extra_hosts", ["http://a.example"]),
            ("extra_hosts", ["a.example/x"]),
            ("extra_hosts", [f"a{n}.example" for n in range(51)]),
        ],
    )
    def test_refuses_what_cannot_be(self, setting: str, value: Any) -> None:
        site = add_site(name="shop", root_url=ROOT, actor=None)
        with pytest.raises(BadSite) as caught:
            change_site(site=site, actor=None, render=True, **{setting: value})
        assert [setting] == list(caught.value.message_dict)
        assert not Site.objects.get().render

    def test_knows_its_settings(self) -> None:
        site = add_site(name="shop", root_url=ROOT, actor=None)
        with pytest.raises(TypeError, match="no setting n_pages, root_url"):
            change_site(site=site, actor=None, root_url="http://b/", n_pages=3)
