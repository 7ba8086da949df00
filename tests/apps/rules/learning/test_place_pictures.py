"""Pictures of where a rule looks: drawn by a job, by browser or as outlines, shown by its words."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.dom.frame.outlines import LIT
from clustering.fetching.browser.picturing import PNG
from rules.models import PlacePicture, Rule
from rules.services.learning import place_pictures
from rules.services.learning.panel import learn_panel
from rules.services.learning.place_pictures import DRAW_PLACES, pictured_attributes
from tests.apps.clustering.api_cast import site_of
from tests.apps.rules.review_cast import person
from tests.apps.rules.shop_cast import annotate_product, learnt_shop, products_of, shop
from vertex.core.models import Job, Role
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.people import people

pytestmark = pytest.mark.django_db

CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
N = r"(-?[\d.]+)"
NO_BROWSER = "/no/browser"
BROWSERS = [
    pytest.param(NO_BROWSER, id="outline"),
    pytest.param(
        CHROMIUM,
        id="browser",
        marks=pytest.mark.skipif(
            not Path(CHROMIUM).exists(), reason="CHROMIUM NOT FOUND: apt-get install chromium"
        ),
    ),
]


@pytest.fixture
def rule(settings: Any, tmp_path: Path) -> Rule:
    settings.VAR_DIR = tmp_path
    return learnt_shop()[1]


def draw() -> dict[str, Any]:
    """Do the job that publishing or learning asked for."""
    waiting = Job.objects.unfinished().get(task=DRAW_PLACES.task)
    assert waiting.due_at > timezone.now()
    Job.objects.filter(pk=waiting.pk).update(due_at=timezone.now())
    job = run_job(waiting.pk, DRAW_PLACES.work)
    assert (Job.State.DONE, "") == (job.state, job.error)
    return job.result or {}


def lit_boxes(svg: str) -> list[list[float]]:
    """Return x, y, width and height of what is lit."""
    lit = re.findall(rf'<rect x="{N}" y="{N}" width="{N}" height="{N}" [^>]*stroke="{LIT}"', svg)
    return [[float(length) for length in box] for box in lit]


@pytest.mark.parametrize("binary", BROWSERS)
def test_publishing_draws_the_place_of_each_attribute(
    rule: Rule, settings: Any, binary: str
) -> None:
    settings.CHROMIUM = binary

    result = draw()

    assert {"pictures": 3} == result
    assert {"name", "price", "weight"} == pictured_attributes(rule)
    for picture in PlacePicture.objects.all():
        ((x, _, width, height),) = lit_boxes(picture.svg)
        assert 0 <= x < x + width <= 360
        assert 8 <= height < 40
        assert "Rope" not in picture.svg


@pytest.mark.parametrize("binary", BROWSERS[1:])
def test_the_browser_lights_the_value_and_not_what_stands_above(
    rule: Rule, settings: Any, binary: str
) -> None:
    settings.CHROMIUM = binary

    draw()

    svg_by_name = dict(PlacePicture.objects.values_list("attribute", "svg"))
    png = re.search(r"base64,([^\"]+)", svg_by_name["price"])
    assert png is not None
    assert base64.b64decode(png[1]).startswith(PNG)
    assert svg_by_name["price"] != svg_by_name["weight"]


@pytest.mark.parametrize("page", ["rule", "review_rule"])
def test_pages_show_them_to_those_who_may_see_the_site(
    rule: Rule, settings: Any, client: Client, page: str
) -> None:
    settings.CHROMIUM = NO_BROWSER
    draw()
    client.force_login(person("rita"))
    names = [rule.cluster.site.name, rule.cluster.name]
    address = reverse("place_picture", args=[*names, rule.version, "price"])

    of_page = [*names, rule.version] if page == "review_rule" else names
    shown = client.get(reverse(page, args=of_page)).content.decode()
    picture = client.get(address)

    assert f'src="{address}"' in shown
    assert ("image/svg+xml", 200) == (picture["Content-Type"], picture.status_code)
    assert "default-src 'none'" in picture["Content-Security-Policy"]
    elsewhere = people.create_user(
        username="guest", role=Role.VIEWER, site=site_of("elsewhere"), actor=None
    )
    client.force_login(elsewhere)
    assert client.get(address).status_code in {403, 404}


def test_a_draft_learnt_in_the_panel_is_drawn_as_it_was_learnt_last(
    settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR, settings.CHROMIUM = tmp_path, NO_BROWSER
    site = shop()
    for number in (1, 3):
        annotate_product(site, number)
        learn_panel(cluster=products_of(site))

    assert {"pictures": 3} == draw()
    assert {"name", "price", "weight"} == pictured_attributes(Rule.objects.get())


def test_a_version_that_changed_since_has_none_until_it_is_drawn_again(
    rule: Rule, settings: Any
) -> None:
    settings.CHROMIUM = NO_BROWSER
    draw()

    Rule.objects.filter(pk=rule.pk).update(stylesheet=rule.stylesheet + "<!-- anew -->")
    rule.refresh_from_db()

    assert not pictured_attributes(rule)


def test_a_version_that_changes_while_it_is_drawn_is_drawn_again(
    rule: Rule, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHROMIUM = NO_BROWSER
    draw_once = place_pictures._draw

    def draw_and_change(drawn: Rule) -> int:
        n_drawn = draw_once(drawn)
        Rule.objects.filter(stylesheet=rule.stylesheet).update(
            stylesheet=rule.stylesheet + "<!-- anew -->"
        )
        return n_drawn

    monkeypatch.setattr(place_pictures, "_draw", draw_and_change)
    draw()

    rule.refresh_from_db()
    assert rule.stylesheet.endswith("<!-- anew -->")
    assert {"name", "price", "weight"} == pictured_attributes(rule)


def test_where_nothing_can_be_drawn_the_job_ends(rule: Rule, settings: Any) -> None:
    settings.CHROMIUM = NO_BROWSER
    rule.samples.all().delete()

    assert {"pictures": 0} == draw()
    assert not pictured_attributes(rule)
