"""What people and services see and change of kept lists: in the browser, by command, by the API."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from monitoring.models import KeptList
from monitoring.services.stream.chain import pause_step
from monitoring.services.stream.kept_lists import add_list, drop_list
from tests.apps.clustering.api_cast import Caller, caller, site_of
from tests.apps.clustering.fake_host import FakeHost, page
from vertex.core.models import AuditEntry, Job, Role, Site, User

pytestmark = pytest.mark.django_db
DAILY = {
    "name": "New products",
    "every": "1",
    "unit": "days",
    "window_start": "00:00",
    "window_end": "00:00",
    "time_zone": "UTC",
    "is_active": "on",
}


@pytest.fixture
def site() -> Site:
    return site_of("shop")


@pytest.fixture
def browser(site: Site, client: Client) -> Client:
    user = User.objects.create_user("olga", password="a long enough password")
    user.memberships.create(site=site, role=Role.OPERATOR)
    client.force_login(user)
    return client


def kept_at(site: Site, **values: Any) -> KeptList:
    default = {"name": "New products", "addresses": f"{site.root_url}1\n{site.root_url}2"}
    return add_list(site=site, **{**default, **values})


def to(name: str, kept_list: KeptList) -> str:
    return reverse(name, args=[kept_list.site.name, kept_list.pk])


def test_an_empty_page_says_what_to_do_and_leads_there(browser: Client, site: Site) -> None:
    text = browser.get(reverse("kept_lists", args=[site.name])).text

    assert "No list is kept" in text
    assert reverse("add_kept_list", args=[site.name]) in text
    assert reverse("kept_lists", args=[site.name]) in (
        browser.get(reverse("visit_addresses", args=[site.name])).text
    )


@pytest.mark.parametrize(
    ("entered", "n_addresses", "url"),
    [
        ({"addresses": "https://shop.example/1\r\nhttps://shop.example/2"}, 2, ""),
        ({"file": SimpleUploadedFile("list.txt", b"https://shop.example/1\n")}, 1, ""),
        ({"url": "https://shop.example/list.txt"}, 0, "https://shop.example/list.txt"),
    ],
)
def test_a_list_is_kept_from_each_of_its_sources(
    browser: Client, site: Site, entered: dict[str, Any], n_addresses: int, url: str
) -> None:
    answer = browser.post(
        reverse("add_kept_list", args=[site.name]), {**DAILY, **entered}, follow=True
    )
    kept_list = KeptList.objects.get()

    assert (kept_list.n_addresses, kept_list.url, kept_list.made_by) == (
        n_addresses,
        url,
        User.objects.get(),
    )
    assert "New products" in answer.text
    assert "every day" in answer.text


@pytest.mark.parametrize(
    ("entered", "message"),
    [
        ({}, "one of the three"),
        ({"addresses": "a", "url": "https://shop.example/list"}, "one of the three"),
        ({"addresses": "https://shop.example/1\n" * 10_001}, "too many to paste"),
        ({"addresses": "https://shop.example/1", "every": "25", "unit": "hours"}, "from 1 to 24"),
        ({"url": "https://other.example/list"}, "does not belong"),
        ({"file": SimpleUploadedFile("list.gz", b"nonsense")}, "cannot be read"),
        ({"addresses": "https://shop.example/1", "time_zone": "Mars"}, "no time zone"),
    ],
)
def test_a_form_says_at_its_field_what_is_wrong(
    browser: Client, site: Site, entered: dict[str, Any], message: str
) -> None:
    answer = browser.post(reverse("add_kept_list", args=[site.name]), {**DAILY, **entered})

    assert answer.status_code == 400
    assert message in answer.text
    assert not KeptList.objects.exists()


def test_a_list_is_changed_and_what_stood_there_gives_way_to_what_is_new(
    browser: Client, site: Site
) -> None:
    kept_list = kept_at(site)
    shown = browser.get(to("kept_list", kept_list)).text
    assert "https://shop.example/1\nhttps://shop.example/2</textarea>" in shown

    as_it_stands = {**DAILY, "addresses": kept_list.addresses.replace("\n", "\r\n")}
    file = SimpleUploadedFile("list.txt", b"https://shop.example/7\n")
    browser.post(to("kept_list", kept_list), {**as_it_stands, "name": "Others", "file": file})
    kept_list.refresh_from_db()

    assert (kept_list.name, kept_list.addresses) == ("Others", "https://shop.example/7\n")


@pytest.mark.parametrize(
    ("addresses", "n_addresses"),
    [
        ("https://shop.example/1\n" * 10_001, 10_001),
        (f"https://shop.example/{'1' * 2000}\n" * 900, 900),
        ("# a remark\n" * 10_000 + "https://shop.example/1\n", 1),
    ],
)
def test_a_list_too_long_to_be_shown_stays_as_it_is(
    browser: Client, site: Site, addresses: str, n_addresses: int
) -> None:
    kept_list = kept_at(site, addresses=addresses)
    shown = browser.get(to("kept_list", kept_list)).text
    assert f"The {n_addresses:,} kept are too long a text to be shown" in shown

    browser.post(to("kept_list", kept_list), {**DAILY, "every": "3", "addresses": ""})
    kept_list.refresh_from_db()
    assert (kept_list.every, kept_list.addresses) == (3, addresses)


def test_a_list_is_paused_resumed_visited_deleted_and_taken_back(
    browser: Client, site: Site
) -> None:
    kept_list = kept_at(site)
    overview = reverse("kept_lists", args=[site.name])

    paused = browser.post(to("switch_kept_list", kept_list), {"active": "no"}, follow=True)
    assert "Paused" in paused.text
    browser.post(to("switch_kept_list", kept_list), {"active": "yes"})
    kept_list.refresh_from_db()
    assert kept_list.is_active

    browser.post(to("visit_kept_list", kept_list))
    assert Job.objects.get().title == "Visit New products of shop"
    again = browser.post(to("visit_kept_list", kept_list), follow=True)
    assert "is already waiting" in again.text
    assert "Waiting" in browser.get(overview).text

    deleted = browser.post(to("drop_kept_list", kept_list), follow=True)
    assert "is deleted; its pages stay" in deleted.text
    assert browser.get(to("kept_list", kept_list)).status_code == 404
    assert "Take back: New products" in browser.get(overview).text
    browser.post(to("restore_kept_list", kept_list))
    assert "Take back" not in browser.get(overview).text
    assert browser.get(to("kept_list", kept_list)).status_code == 200

    actions = AuditEntry.objects.filter(actor__username="olga").values_list("action", flat=True)
    assert set(actions) == {
        "kept_list.changed",
        "addresses.visited",
        "kept_list.dropped",
        "kept_list.restored",
    }


def test_a_page_says_what_came_of_the_last_visit_and_what_holds_it_up(
    browser: Client, site: Site
) -> None:
    kept_list = kept_at(site)
    job = Job.objects.create(
        task="t",
        queue="fetch",
        site=site,
        state=Job.State.FAILED,
        error="the list at https://shop.example/list.txt answers 404",
    )
    KeptList.objects.filter(pk=kept_list.pk).update(last_job=job, left_out="no room")
    pause_step(site=site, step="crawl", is_paused=True, actor=None)
    text = browser.get(reverse("kept_lists", args=[site.name])).text

    assert "answers 404" in text
    assert "no room" in text
    assert "is paused at this site" in text


def test_a_page_leads_to_why_not_all_addresses_were_fetched(browser: Client, site: Site) -> None:
    kept_list = kept_at(site)
    job = Job.objects.create(
        task="t",
        queue="fetch",
        site=site,
        state=Job.State.DONE,
        result={"addresses": 2, "stored": 2},
    )
    KeptList.objects.filter(pk=kept_list.pk).update(last_job=job)
    overview = reverse("kept_lists", args=[site.name])
    assert "why not all" not in browser.get(overview).text

    Job.objects.update(result={"addresses": 2, "stored": 1})
    shown = browser.get(overview).text
    assert f'href="{reverse("job", args=[job.pk])}#refusals">why not all' in shown


def test_an_editor_may_not_see_or_change_kept_lists(site: Site) -> None:
    kept_list = kept_at(site)
    editor = Client()
    user = User.objects.create_user("ed", password="a long enough password")
    user.memberships.create(site=site, role=Role.EDITOR)
    editor.force_login(user)

    assert editor.get(reverse("kept_lists", args=[site.name])).status_code == 403
    assert editor.post(to("drop_kept_list", kept_list)).status_code == 403


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def test_the_api_keeps_shows_changes_visits_deletes_and_restores(ada: Caller, site: Site) -> None:
    body = {"name": "New products", "addresses": ["https://shop.example/1"], "unit": "hours"}
    made = ada.post("sites/shop/kept-lists/", body)
    assert made.status_code == 201
    row = made.json()
    assert (row["n_addresses"], row["unit"], row["every"]) == (1, "hours", 1)
    one = f"kept-lists/{row['id']}/"

    assert ada.get("sites/shop/kept-lists/").json()["results"] == [row]
    assert ada.get(one).json() == row | {"addresses": "https://shop.example/1"}

    changes = {"is_active": False, "url": "https://shop.example/list.txt", "delay": 2}
    changed = ada.patch(one, changes).json()
    assert (changed["next_at"], changed["n_addresses"], changed["delay"]) == (None, 0, 2.0)
    assert ada.patch(one, {"delay": None}).json()["delay"] is None

    started = ada.post(f"{one}visit/")
    assert started.status_code == 202
    assert ada.post(f"{one}visit/").status_code == 409
    assert ada.get(one).json()["last_job"] == started.json()["id"]

    assert ada.delete(one).status_code == 204
    assert [ada.get(one).status_code, ada.delete(one).status_code] == [404, 404]
    assert ada.get("sites/shop/kept-lists/").json()["results"] == []
    (deleted,) = ada.get("sites/shop/kept-lists/?deleted=true").json()["results"]
    assert (deleted["id"], deleted["dropped_at"] is None) == (row["id"], False)
    assert ada.post(f"{one}restore/").json()["name"] == "New products"
    assert ada.get(one).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"addresses": ["https://shop.example/1"]}, "name"),
        ({"name": "a", "addresses": []}, "addresses"),
        ({"name": "a", "addresses": ["https://shop.example/1"] * 10_001}, "addresses"),
        ({"name": "a"}, "addresses"),
        ({"name": "a", "url": "https://other.example/"}, "url"),
        ({"name": "a", "url": "https://shop.example/", "every": 25, "unit": "hours"}, "every"),
    ],
)
@pytest.mark.usefixtures("site")
def test_the_api_names_the_field_that_is_wrong(
    ada: Caller, body: dict[str, Any], field: str
) -> None:
    answer = ada.post("sites/shop/kept-lists/", body)

    assert answer.status_code == 400
    assert field in answer.json()["error"]["fields"]
    assert not KeptList.objects.exists()


def run(command: str, *arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=io.StringIO())
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.usefixtures("loopback")
def test_commands_keep_show_visit_and_delete(tmp_path: Path) -> None:
    with FakeHost({"/1": page()}) as host:
        Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0.0)
        file = tmp_path / "list.txt"
        file.write_text(f"{host.url}/1\n")
        (made,) = run("keep_list", "shop", "New", str(file), "--every", "6", "--unit", "hours")
        assert (made["addresses"], made["every"], made["last_state"]) == (1, 6, None)

        (paused,) = run("keep_list", "shop", "New", "--pause", "--rename", "Newer")
        assert (paused["list"], paused["next_at"], paused["every"]) == ("Newer", None, 6)
        assert [line["url"] for line in run("visit_kept_list", "shop", "Newer")] == [
            f"{host.url}/1"
        ]

    (shown,) = run("kept_lists", "shop")
    assert (shown["last_state"], shown["last_result"]["stored"]) == ("done", 1)
    run("keep_list", "shop", "Newer", "--delete")
    assert run("kept_lists") == []
    run("keep_list", "shop", "Newer", "--restore")
    assert len(run("kept_lists")) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["shop", "None"], "There is no address"),
        (["shop", "None", "missing.txt"], "missing.txt"),
        (["shop", "None", "--delete"], "no kept list"),
        (["shop", "Gone", "--restore", "--every", "2"], "not changed as well"),
        (["shop", "Gone", "--url", "https://other.example/"], "does not belong"),
    ],
)
def test_a_command_says_what_is_wrong(site: Site, arguments: list[str], words: str) -> None:
    drop_list(kept_list=kept_at(site, name="Gone"))
    with pytest.raises(CommandError, match=words):
        run("keep_list", *arguments)


def test_a_command_names_the_list_that_is_not_there(site: Site) -> None:
    with pytest.raises(CommandError, match="keeps no list 'None'"):
        run("visit_kept_list", site.name, "None")
