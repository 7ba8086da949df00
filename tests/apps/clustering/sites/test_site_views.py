"""The list of sites, adding one, its overview, settings, export and end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Vertical
from clustering.forms.sites import propose_name
from vertex.core.models import AuditEntry, Job, Membership, Role, Site, User

pytestmark = pytest.mark.django_db


def browser(role: Role | None, site: Site | None = None) -> Client:
    user = User.objects.create_user(f"{role or 'nobody'}-{site or 'everywhere'}")
    if role:
        Membership.objects.create(user=user, role=role, site=site)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def viewer() -> Client:
    return browser(Role.VIEWER)


@pytest.fixture
def operator() -> Client:
    return browser(Role.OPERATOR)


@pytest.fixture
def administrator() -> Client:
    return browser(Role.ADMINISTRATOR)


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="alpine-shop", root_url="https://alpine.example/", n_pages=3)


def shown(client: Client, view: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(view, args=args), query)
    assert 200 == answer.status_code
    return answer.content.decode()


def job(site: Site | None, state: Job.State, **fields: Any) -> Job:
    now = timezone.now()
    if state == Job.State.RUNNING:
        fields |= {"lease": "x", "leased_until": now, "started_at": now, "claimed_at": now}
    title = fields.pop("title", f"Crawl {site}")
    return Job.objects.create(
        task="clustering.crawl_site", queue="fetch", site=site, title=title, state=state, **fields
    )


def listed(client: Client, **query: str) -> list[str]:
    answer = client.get(reverse("sites"), query)
    return [row.site.name for row in answer.context["rows"]]


class TestList:
    def test_an_empty_installation_says_how_to_begin(self, operator: Client) -> None:
        page = shown(operator, "sites")
        assert "No sites yet" in page
        assert reverse("add_site") in page
        assert "manage.py demo" in page

    def test_a_viewer_of_an_empty_installation_is_offered_nothing_that_is_refused(
        self, viewer: Client
    ) -> None:
        assert reverse("add_site") not in shown(viewer, "sites")

    def test_only_the_sites_of_one_s_own_are_listed(self, shop: Site) -> None:
        Site.objects.create(name="other", root_url="https://other.example/")
        assert ["alpine-shop"] == listed(browser(Role.VIEWER, shop))

    @pytest.mark.both_databases
    def test_search_finds_words_of_name_and_address(self, viewer: Client, shop: Site) -> None:
        Site.objects.create(name="guide", root_url="https://city.example/")
        assert ["guide"] == listed(viewer, q="CITY gui")
        assert ["alpine-shop", "guide"] == listed(viewer)

    @pytest.mark.both_databases
    def test_a_search_for_a_null_character_is_a_search_for_nothing(
        self, viewer: Client, shop: Site
    ) -> None:
        assert ["alpine-shop"] == listed(viewer, q="\0")

    def test_it_sorts_by_number_of_pages(self, viewer: Client, shop: Site) -> None:
        Site.objects.create(name="large", root_url="https://large.example/", n_pages=99)
        assert ["large", "alpine-shop"] == listed(viewer, sort="-pages")

    def test_an_order_that_does_not_exist_is_the_usual_one(
        self, viewer: Client, shop: Site
    ) -> None:
        assert ["alpine-shop"] == listed(viewer, sort="password")

    def test_filters_tell_work_failure_and_emptiness_apart(
        self, viewer: Client, shop: Site
    ) -> None:
        failed = Site.objects.create(name="failed", root_url="https://failed.example/", n_pages=1)
        job(failed, Job.State.DONE)
        job(failed, Job.State.FAILED)
        healed = Site.objects.create(name="healed", root_url="https://healed.example/")
        job(healed, Job.State.FAILED)
        job(healed, Job.State.DONE)
        job(shop, Job.State.RUNNING)
        assert ["alpine-shop"] == listed(viewer, show="at_work")
        assert ["failed"] == listed(viewer, show="failed")
        assert ["healed"] == listed(viewer, show="empty")

    def test_what_the_last_job_could_not_take_is_told(self, viewer: Client, shop: Site) -> None:
        job(shop, Job.State.DONE, result={"new": 5, "failed": 1_200})
        assert "1,200 not taken" in shown(viewer, "sites")

    def test_a_site_at_work_makes_the_list_live(self, viewer: Client, shop: Site) -> None:
        assert "every 4s" not in shown(viewer, "sites")
        job(shop, Job.State.RUNNING, n_done=3, n_total=10)
        page = shown(viewer, "sites")
        assert "every 4s" in page
        assert "3 of 10" in page

    def test_a_running_job_is_shown_before_one_that_waits(self, viewer: Client, shop: Site) -> None:
        job(shop, Job.State.RUNNING, n_done=3, n_total=10)
        job(shop, Job.State.DUE)
        assert "3 of 10" in shown(viewer, "sites")

    def test_its_cost_does_not_grow_with_the_sites(self, viewer: Client, shop: Site) -> None:
        job(shop, Job.State.DONE)
        shown(viewer, "sites")  # the session is written once
        with CaptureQueriesContext(connection) as few:
            shown(viewer, "sites")
        for n in range(60):
            job(
                Site.objects.create(name=f"site-{n}", root_url="https://x.example/"), Job.State.DONE
            )
        with CaptureQueriesContext(connection) as many:
            shown(viewer, "sites")
        assert len(few) == len(many)
        assert not [query for query in many if "clustering_page" in query["sql"]]

    def test_a_damaged_cursor_gives_a_page_with_a_way_out(self, viewer: Client, shop: Site) -> None:
        answer = viewer.get(reverse("sites"), {"after": "damaged"})
        assert 400 == answer.status_code
        assert "open it again from its beginning" in answer.content.decode()


class TestAdd:
    def entered(self, **fields: object) -> dict[str, object]:
        return {"root_url": "https://www.shop.example/", "name": "", "max_pages": "50"} | fields

    def test_an_address_is_enough(self, operator: Client) -> None:
        answer = operator.post(reverse("add_site"), self.entered(root_url="shop.example"))
        added = Site.objects.get()
        assert ("shop.example", "https://shop.example/") == (added.name, added.root_url)
        assert reverse("site", args=["shop.example"]) == answer["Location"]
        assert not Job.objects.exists()

    def test_an_address_may_have_a_port_and_no_scheme(self, operator: Client) -> None:
        operator.post(reverse("add_site"), self.entered(root_url="shop.example:8080/a:b"))
        assert "https://shop.example:8080/a:b" == Site.objects.get().root_url

    def test_it_is_crawled_at_once_if_wished(self, operator: Client) -> None:
        operator.post(reverse("add_site"), self.entered(crawls_at_once="on"))
        assert 50 == Job.objects.get().params["max_pages"]

    def test_the_crawl_can_be_taken_back(self, operator: Client) -> None:
        answer = operator.post(reverse("add_site"), self.entered(crawls_at_once="on"), follow=True)
        assert reverse("cancel_job", args=[Job.objects.get().pk]) in answer.content.decode()

    def test_its_vertical_is_asked_for_once_there_is_one(self, operator: Client) -> None:
        assert "id_vertical" not in shown(operator, "add_site")
        product = Vertical.objects.create(name="product")
        assert "id_vertical" in shown(operator, "add_site")
        operator.post(reverse("add_site"), self.entered(vertical="product"))
        assert product == Assignment.objects.get(site__name="shop.example").vertical

    @pytest.mark.parametrize(
        "address",
        [
            "ftp://x.example/",
            "https://",
            "javascript:alert(1)",
            "htp:/x.example/",
            "http://a b/",
            "",
        ],
    )
    def test_an_address_that_is_none_is_refused_with_what_was_entered(
        self, operator: Client, address: str
    ) -> None:
        answer = operator.post(reverse("add_site"), self.entered(root_url=address, name="kept"))
        assert 400 == answer.status_code
        assert "kept" in answer.content.decode()
        assert not Site.objects.exists()

    def test_a_name_that_is_taken_is_refused(self, operator: Client, shop: Site) -> None:
        answer = operator.post(reverse("add_site"), self.entered(name="alpine-shop"))
        assert "already a site" in answer.content.decode()

    def test_the_name_is_proposed_from_the_address(self, operator: Client, shop: Site) -> None:
        page = shown(operator, "add_site", root_url="https://www.alpine.example/de")
        assert 'value="alpine.example"' in page

    @pytest.mark.parametrize(
        ("address", "name"),
        [
            ("https://www.shop.example/", "shop.example"),
            ("shop.example:8080/x", "shop.example-8080"),
            ("http://[::1]:80/", "1-80"),
            ("https://", ""),
            ("http://[broken", ""),
            ("https://münchen.example/", "m-nchen.example"),
        ],
    )
    def test_names_are_made_from_hosts(self, address: str, name: str) -> None:
        assert name == propose_name(address)

    def test_a_proposed_name_is_free(self, shop: Site) -> None:
        for name in ("shop.example", "shop.example-2"):
            Site.objects.create(name=name, root_url="https://shop.example/")
        assert "shop.example-3" == propose_name("https://shop.example/")

    def test_a_site_may_be_named_like_an_action(self, operator: Client) -> None:
        operator.post(reverse("add_site"), self.entered(name="add"))
        assert "shop.example" in shown(operator, "site", "add")

    def test_an_operator_of_one_site_adds_none(self, shop: Site) -> None:
        assert 403 == browser(Role.OPERATOR, shop).get(reverse("add_site")).status_code


class TestOverview:
    def test_a_site_without_pages_says_what_comes_next(self, operator: Client, shop: Site) -> None:
        Site.objects.update(n_pages=0)
        page = shown(operator, "site", "alpine-shop")
        assert "everything else begins with them" in page
        assert reverse("crawl_site", args=["alpine-shop"]) in page

    def test_a_viewer_is_shown_no_buttons(self, viewer: Client, shop: Site) -> None:
        page = shown(viewer, "site", "alpine-shop")
        assert reverse("crawl_site", args=["alpine-shop"]) not in page
        assert reverse("site_settings", args=["alpine-shop"]) not in page

    def test_a_failed_job_says_why(self, viewer: Client, shop: Site) -> None:
        job(shop, Job.State.FAILED, error="no address is known for alpine.example")
        assert "no address is known" in shown(viewer, "site", "alpine-shop")

    def test_a_site_of_others_is_not_there(self, shop: Site) -> None:
        other = Site.objects.create(name="other", root_url="https://other.example/")
        assert (
            404
            == browser(Role.ADMINISTRATOR, other)
            .get(reverse("site", args=["alpine-shop"]))
            .status_code
        )


class TestSettings:
    def save(self, client: Client, **fields: object) -> Any:
        entered = {
            "title": "Alpine",
            "extra_hosts": "",
            "snapshots_kept": "",
            "match_by": "model",
        }
        return client.post(
            reverse("site_settings", args=["alpine-shop"]), entered | fields, follow=True
        )

    def test_they_are_saved(self, operator: Client, shop: Site) -> None:
        self.save(
            operator,
            extra_hosts="Images.alpine.example\ncdn.example:8080",
            snapshots_kept="3",
            match_by="signature",
            country="de",
        )
        shop.refresh_from_db()
        assert ("Alpine", 3) == (shop.title, shop.snapshots_kept)
        assert (Site.MatchBy.SIGNATURE, "DE") == (shop.match_by, shop.country)
        assert ["images.alpine.example", "cdn.example:8080"] == shop.extra_hosts

    def test_undo_puts_back_what_was(self, operator: Client, shop: Site) -> None:
        Site.objects.update(title="Before", extra_hosts=["a.example"], country="DE")
        answer = self.save(operator)
        [message] = answer.context["messages"]
        undo = json.loads(message.extra_tags)
        operator.post(undo["url"], dict(undo["fields"]))
        shop.refresh_from_db()
        assert ("Before", ["a.example"], "DE") == (shop.title, shop.extra_hosts, shop.country)

    def test_a_host_that_is_none_is_refused_at_its_field(
        self, operator: Client, shop: Site
    ) -> None:
        answer = self.save(operator, extra_hosts="not/a/host")
        assert 400 == answer.status_code
        assert answer.context["form"].errors["extra_hosts"]

    def test_the_vertical_is_changed_and_taken_away(self, operator: Client, shop: Site) -> None:
        product = Vertical.objects.create(name="product")
        self.save(operator, vertical="product")
        assert product == Assignment.objects.get().vertical
        self.save(operator, vertical="")
        assert not Assignment.objects.exists()

    def test_an_editor_changes_none(self, shop: Site) -> None:
        assert 403 == self.save(browser(Role.EDITOR)).status_code
        shop.refresh_from_db()
        assert "" == shop.title


class TestEnd:
    def test_the_name_must_be_typed(self, administrator: Client, shop: Site) -> None:
        answer = administrator.post(
            reverse("delete_site", args=["alpine-shop"]), {"typed_name": "alpine"}
        )
        assert 400 == answer.status_code
        assert not Job.objects.exists()

    def test_with_the_name_the_site_goes_out_of_sight(
        self, administrator: Client, shop: Site
    ) -> None:
        administrator.post(
            reverse("delete_site", args=["alpine-shop"]), {"typed_name": "alpine-shop"}
        )
        assert [] == listed(administrator)
        assert "clustering.delete_site" == Job.objects.get().task
        assert AuditEntry.objects.filter(action="site.deleted").exists()

    def test_an_operator_deletes_none(self, operator: Client, shop: Site) -> None:
        answer = operator.post(
            reverse("delete_site", args=["alpine-shop"]), {"typed_name": "alpine-shop"}
        )
        assert 403 == answer.status_code

    def test_an_export_is_a_job(self, operator: Client, shop: Site) -> None:
        answer = operator.post(reverse("export_site", args=["alpine-shop"]))
        assert reverse("job", args=[Job.objects.get().pk]) == answer["Location"]

    def test_a_second_export_leads_to_the_first(self, operator: Client, shop: Site) -> None:
        operator.post(reverse("export_site", args=["alpine-shop"]))
        operator.post(reverse("export_site", args=["alpine-shop"]))
        assert 1 == Job.objects.count()


class TestFailures:
    def test_what_is_not_there_has_a_way_out(self, viewer: Client) -> None:
        answer = viewer.get("/sites/none/")
        assert 404 == answer.status_code
        assert reverse("sites") in answer.content.decode()

    def test_an_anonymous_visitor_of_nothing_is_led_to_the_log_in(self, client: Client) -> None:
        answer = client.get("/nothing/")
        assert 404 == answer.status_code
        assert reverse("log_in") in answer.content.decode()

    def test_a_role_too_low_is_told_which_is_needed(self, viewer: Client) -> None:
        assert "operator" in viewer.get(reverse("add_site")).content.decode()

    def test_a_form_without_its_token_is_explained(self, shop: Site) -> None:
        strict = Client(enforce_csrf_checks=True)
        user = User.objects.create_user("eddy")
        Membership.objects.create(user=user, role=Role.OPERATOR)
        strict.force_login(user)
        answer = strict.post(reverse("export_site", args=["alpine-shop"]))
        assert 403 == answer.status_code
        assert "Nothing was changed" in answer.content.decode()

    def test_a_failure_of_ours_needs_neither_session_nor_database(
        self, monkeypatch: pytest.MonkeyPatch, viewer: Client
    ) -> None:
        def fail(*_args: object, **_kwargs: object) -> None:
            raise RuntimeError("broken")

        monkeypatch.setattr(Site.objects, "visible_to", fail)
        viewer.raise_request_exception = False
        answer = viewer.get(reverse("sites"))
        assert 500 == answer.status_code
        assert "Something failed on our side" in answer.content.decode()

    @pytest.mark.parametrize("path", ["/", "/sites/", "/nothing/", "/add-site/"])
    def test_no_page_carries_styles_or_scripts_of_its_own(
        self, operator: Client, shop: Site, path: str
    ) -> None:
        page = operator.get(path, follow=True).content.decode()
        assert " style=" not in page
        assert "onclick=" not in page
        assert "<script>" not in page


class TestRail:
    def places(self, client: Client) -> list[str]:
        answer = client.get(reverse("account"))
        return [
            link.split('"')[0]
            for link in answer.content.decode().split('class="rail-link" href="')[1:]
        ]

    def test_an_administrator_is_led_everywhere(self, administrator: Client) -> None:
        assert {"/sites/", "/operations/jobs/", "/settings/people/", "/settings/audit/"} <= set(
            self.places(administrator)
        )

    def test_a_viewer_is_not_led_to_people_and_audit(self, viewer: Client) -> None:
        assert not {"/settings/people/", "/settings/audit/"} & set(self.places(viewer))

    def test_an_administrator_of_one_site_sees_its_audit_trail(self, shop: Site) -> None:
        places = self.places(browser(Role.ADMINISTRATOR, shop))
        assert "/settings/audit/" in places
        assert "/settings/people/" not in places

    @pytest.mark.parametrize("role", [None, *Role])
    def test_no_place_refuses_whom_it_is_shown_to(self, role: Role | None) -> None:
        client = browser(role)
        assert {200} == {client.get(place).status_code for place in self.places(client)}
