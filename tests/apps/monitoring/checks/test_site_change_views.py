"""The page of a site change: both pages side by side, the repair confirmed by value, the report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Sample
from monitoring.models import Check, Proposal, SiteChange
from monitoring.services.checks.checking import check_request, run_checks
from monitoring.services.repair.accepting import publish_proposal
from monitoring.services.repair.proposals import accept_proposal
from monitoring.services.repair.repairing import pages_to_fetch, repair_request, repair_site
from monitoring.views.checks.change_rows import example_of, proposal_of
from rules.models import Rule
from rules.services.learning.learning import learn_rule
from rules.services.review.publishing import publish_rule
from tests.apps.monitoring.monitored_shop import Made, redesigned
from tests.apps.monitoring.shop_on_host import Maker, Shop
from tests.apps.monitoring.watched_sites import changed, watched
from tests.apps.rules.review_cast import person
from tests.apps.rules.shop_cast import annotate_product
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(person(role.value, role))
    return client


@pytest.fixture
def ops() -> Client:
    return client_of(Role.OPERATOR)


@pytest.fixture
def host(loopback: None) -> Iterator[Shop]:
    one = Shop()
    with one.host:
        yield one


@pytest.fixture
def shop(host: Shop) -> Site:
    """Return a shop that was redesigned, checked, and for which a repair is proposed."""
    return remade(host, redesigned)


def remade(host: Shop, make: Maker) -> Site:
    """Give a shop other pages, check it, and have a repair proposed."""
    site = host.open()
    host.make = make
    run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
    run_job(create_here(repair_request(site=site, is_patient=False)).pk, repair_site)
    return site


def weight_on_page_4_only(n: int) -> Made:
    path, body, kind = redesigned(n)
    return path, body if n == 4 else re.sub(rb"<tr><th>Weighs.*?</tr>", b"", body), kind


def weight_in_other_words(n: int) -> Made:
    path, body, kind = redesigned(n)
    row = f"<tr><th>Weight</th><td>{n}13 grams</td></tr>".encode()
    return path, re.sub(rb"<tr><th>Weighs.*?</tr>", row, body), kind


def proposed() -> Proposal:
    return Proposal.objects.get(decision=Proposal.Decision.PROPOSED)


def page_of_change(client: Client) -> str:
    change = SiteChange.objects.get()
    answer = client.get(reverse("site_change", args=[change.site.name, change.pk]))
    assert 200 == answer.status_code
    return answer.content.decode()


def say(client: Client, attribute: str, said: str) -> str:
    address = reverse("decide_value", args=["shop", proposed().pk])
    answer: Any = client.post(address, {"attribute": attribute, "said": said}, headers=HTMX)
    return str(answer.content.decode())


class TestSideBySide:
    def test_each_value_stands_on_both_pages(self, ops: Client, shop: Site) -> None:
        example = example_of(SiteChange.objects.get(), page="", proposal_pk="")["example"]
        marks = json.loads(example.marks)

        assert example.old.pk != example.new.pk
        assert {"name", "price"} <= {mark["label"] for mark in marks["old"]}
        assert {"lost"} == {mark["kind"] for mark in marks["old"]}
        assert {"found"} == {mark["kind"] for mark in marks["new"]}
        name = next(row for row in example.values if row.name == "name")
        assert (name.old, name.kind) == (name.found, "null_extraction")
        page = page_of_change(ops)
        assert 2 == page.count("data-page-frame=")
        assert "Confirm all" in page

    def test_the_repair_of_the_cluster_itself_comes_before_one_of_a_few_pages(
        self, shop: Site
    ) -> None:
        change, best = SiteChange.objects.get(), proposed()
        of_few = Proposal.objects.get(pk=best.pk)
        of_few.pk, of_few.cluster, of_few.name, of_few.field_test, of_few.n_urls = (
            None,
            None,
            "new-2",
            False,
            1,
        )
        of_few.save()

        assert best == proposal_of(change)

    def test_any_affected_page_can_be_looked_at(self, shop: Site) -> None:
        change = SiteChange.objects.get()
        last = example_of(change, page="", proposal_pk="")["pages"][-1]
        asked_for = example_of(change, page=str(last.page_id), proposal_pk="")
        assert last.page_id == asked_for["example"].checked.page_id
        other = example_of(change, page="0; drop", proposal_pk="")
        assert other["example"].checked.page_id != last.page_id

    def test_one_that_is_over_shows_what_repaired_it_and_leads_to_another_that_waits(
        self, ops: Client, shop: Site
    ) -> None:
        change, best = SiteChange.objects.get(), proposed()
        other = copy_of(best, name="product-new", cluster=None)
        assert "stay as they were until it is over" in page_of_change(ops)
        accept(best)
        change.refresh_from_db()
        assert SiteChange.End.REPAIRED == change.end

        page = page_of_change(ops)
        assert best == proposal_of(change)
        assert "Another repair waits" in page
        assert "until it is over" not in page
        assert f"?proposal={other.pk}" in page
        assert "Confirm all" not in page
        asked_for = ops.get(
            reverse("site_change", args=["shop", change.pk]), {"proposal": other.pk}
        )
        assert other == asked_for.context["proposal"]
        for address in ("/monitoring/site-changes/?show=repairs", "/sites/shop/monitoring/"):
            assert (
                reverse("site_change", args=["shop", change.pk])
                in ops.get(address).content.decode()
            )

    def test_a_dismissed_change_leaves_no_repair_to_decide(self, ops: Client, shop: Site) -> None:
        change = SiteChange.objects.get()
        assert Proposal.objects.waiting().exists()
        ops.post(reverse("dismiss_change", args=["shop", change.pk]))
        assert not Proposal.objects.waiting().exists()
        assert "Repairs to decide" not in ops.get("/sites/shop/monitoring/").content.decode()


def copy_of(proposal: Proposal, **fields: Any) -> Proposal:
    """Return a second proposal that waits beside one."""
    copied = Proposal.objects.get(pk=proposal.pk)
    copied.pk = None
    for name, value in fields.items():
        setattr(copied, name, value)
    copied.save()
    return copied


def accept(proposal: Proposal) -> None:
    job = accept_proposal(proposal=proposal)
    assert Job.State.DONE == run_job(job.pk, publish_proposal).state


class TestConfirming:
    def test_the_last_confirmed_value_brings_the_rule_into_force(
        self, ops: Client, shop: Site
    ) -> None:
        names = list(proposed().attributes)
        for name in names[:-1]:
            assert f'data-current="{name}"' not in say(ops, name, "confirmed")
        acceptances = Job.objects.filter(task="monitoring.accept_proposal")
        assert not acceptances.exists()
        say(ops, names[-1], "confirmed")
        run_job(acceptances.get().pk, publish_proposal)

        assert ["retired", "published"] == list(
            Rule.objects.order_by("version").values_list("state", flat=True)
        )
        assert SiteChange.End.REPAIRED == SiteChange.objects.get().end
        page = page_of_change(ops)
        assert "What it was" in page
        assert "found again" in page

    def test_how_sure_a_value_is_stands_beside_it_where_all_of_them_changed(
        self, ops: Client, shop: Site
    ) -> None:
        assert "likely to" not in page_of_change(ops)
        proposal = proposed()
        proposal.attributes["price"]["certainty"] = 0.93
        proposal.save()
        assert "likely to 93" in page_of_change(ops)

    def test_all_are_confirmed_at_once(self, ops: Client, shop: Site) -> None:
        answer = ops.post(reverse("accept_proposal", args=["shop", proposed().pk]), headers=HTMX)
        assert "Repair shop" in answer.content.decode()
        assert proposed().pk == Proposal.objects.waiting().get(decision="proposed").pk

    def test_one_that_is_out_of_date_is_not_offered_but_planned_anew(
        self, ops: Client, shop: Site
    ) -> None:
        assert "out of date" not in page_of_change(ops)
        annotate_product(shop, 5)
        page = page_of_change(ops)
        answer = ops.post(reverse("accept_proposal", args=["shop", proposed().pk]), headers=HTMX)

        assert "This proposal is out of date." in page
        assert "Some of its pages were annotated." in page
        assert "Plan anew" in page
        assert "Confirm all" not in page
        assert "Run the repair again" in answer.content.decode()
        assert "Ask an operator" in page_of_change(client_of(Role.REVIEWER))
        assert "out of date" not in page_of_change(client_of(Role.EDITOR))

    def test_what_was_said_is_taken_back(self, ops: Client, shop: Site) -> None:
        say(ops, "name", "gone")
        assert "gone" == proposed().attributes["name"]["said"]
        say(ops, "name", "")
        assert "said" not in proposed().attributes["name"]

    def test_nonsense_is_refused(self, ops: Client, shop: Site) -> None:
        assert "has no attribute" in say(ops, "colour", "confirmed")
        assert "Must be one of" in say(ops, "name", "perhaps")

    def test_editors_only_look(self, shop: Site) -> None:
        editor = client_of(Role.EDITOR)
        assert "Confirm all" not in page_of_change(editor)
        assert (
            403 == editor.post(reverse("accept_proposal", args=["shop", proposed().pk])).status_code
        )

    def test_a_value_in_another_place_leads_to_annotating_the_new_pages(
        self, ops: Client, shop: Site
    ) -> None:
        answer = say(ops, "price", "elsewhere")
        assert "Annotate the new pages" in answer
        assert "Confirm all" not in answer
        ops.post(reverse("annotate_instead", args=["shop", proposed().pk]))

        assert (Proposal.State.REJECTED, "price is in another place") == (
            proposed().state,
            proposed().comment,
        )
        assert Job.objects.filter(task="annotation.draw_samples").exists()
        latest = shop.pages.get(url__endswith="/p/1").latest_snapshot
        assert latest is not None
        assert latest.pk == latest.page.snapshots.order_by("-pk")[0].pk
        assert not Sample.objects.filter(snapshot=latest).exists()


class TestWhatNothingIsProposedFor:
    def test_once_the_repair_is_confirmed_one_click_opens_the_page_to_annotate(
        self, ops: Client, host: Shop
    ) -> None:
        site = remade(host, weight_on_page_4_only)
        asked_for = site.pages.get(url__endswith="/p/4")
        address = reverse("annotate_page", args=["shop", asked_for.pk])
        assert (["weight"], asked_for) == (proposed().silent, proposed().page_to_annotate)
        page = page_of_change(ops)
        assert "Nothing is proposed for weight." in page
        assert address not in page

        accept(proposed())
        assert address in page_of_change(ops)
        assert address not in page_of_change(client_of(Role.VIEWER))
        asked_for.refresh_from_db()
        opened = ops.get(address)
        assert asked_for.latest_snapshot == opened.context["snapshot"]

        newer = learn_rule(cluster=SiteChange.objects.get().cluster)
        publish_rule(rule=newer, is_forced=True)
        assert address not in page_of_change(ops)

    def test_what_it_probably_is_now_is_told(self, ops: Client, host: Shop) -> None:
        remade(host, weight_in_other_words)
        (hint,) = proposed().hints
        assert (["weight"], "weight", "113 grams") == (
            proposed().silent,
            hint["attribute"],
            hint["value"],
        )
        page = page_of_change(ops)
        assert "weight: “113 grams” on" in page
        assert "its label is “Weight”" in page

    def test_where_no_value_is_found_again_the_new_pages_are_annotated(
        self, ops: Client, shop: Site
    ) -> None:
        assert "Annotate the new pages" not in page_of_change(ops)
        Proposal.objects.filter(pk=proposed().pk).update(
            decision=Proposal.Decision.NEEDS_ANNOTATION, field_test=None, attributes={}
        )
        page = page_of_change(ops)
        assert "No value was found again." in page
        assert "Annotate the new pages" in page


class TestBeforeARepair:
    def test_one_is_run_with_a_key(self, ops: Client) -> None:
        change = changed(watched("shop"))
        page = page_of_change(ops)
        assert "No page to compare" in page
        assert 'data-key="r"' in page
        ops.post(reverse("run_repair", args=["shop", change.pk]))
        assert "monitoring.heal_site" == Job.objects.latest("pk").task
        assert "Repair shop" in page_of_change(ops)

    def test_how_many_pages_it_asks_the_site_for_is_said(self, ops: Client, host: Shop) -> None:
        site = host.open()
        host.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        n_wanted = len(pages_to_fetch(site))
        assert f"A repair asks the site for {n_wanted} pages" in page_of_change(ops)
        n_asked = len(host.asked())
        run_job(create_here(repair_request(site=site, is_patient=False)).pk, repair_site)
        assert n_wanted == len(host.asked()) - n_asked
        Check.objects.update(source="/some/archive")
        assert "A repair asks the site for" not in page_of_change(ops)

    def test_an_archive_that_is_gone_is_said(self, ops: Client) -> None:
        change = changed(watched("shop"))
        Check.objects.update(source="/nowhere/at.all")
        answer = ops.post(reverse("run_repair", args=["shop", change.pk]), follow=True)
        assert "/nowhere/at.all" in answer.content.decode()

    def test_a_person_may_say_that_nothing_changed(self, ops: Client) -> None:
        change = changed(watched("shop"))
        ops.post(reverse("dismiss_change", args=["shop", change.pk]))
        assert SiteChange.End.DISMISSED == SiteChange.objects.get().end
        again = ops.post(reverse("dismiss_change", args=["shop", change.pk]), follow=True)
        assert "over already" in again.content.decode()
