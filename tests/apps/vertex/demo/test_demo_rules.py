"""The demo goes from pages to records; what fails is told and repeated, what people did stays."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Annotation, Sample
from annotation.services.annotations.annotating import annotate
from clustering.models import Clustering
from rules.models import GoldenRecord, Record, Rule
from vertex.core.models import Job, User
from vertex.demo import sites
from vertex.demo.sites.server import free_ports

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
]

SITE = "town-guide"
N_PAGES = 70
COUNTED = (Clustering, Sample, Annotation, Rule, GoldenRecord, Record, Job)


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the demo a folder and a port of its own, and one site instead of four."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(sites, "NAMES", (SITE,))
    monkeypatch.setenv("VERTEX_DEMO_PORT", str(free_ports(1)))
    return tmp_path


def take_tour() -> str:
    out = StringIO()
    call_command("demo", stdout=out, max_pages=N_PAGES)
    return " ".join(out.getvalue().split())


def counts() -> list[int]:
    return [model.objects.count() for model in COUNTED]


def right_and_all(attribute: str) -> tuple[int, int]:
    """Return how many records have an attribute as the truth says, and how many there are."""
    records = Record.objects.there().select_related("page")
    truths = [(record, sites.load(SITE).page_at(target_of(record))) for record in records]
    right = [
        truth and truth.values[attribute] == record.values.get(attribute)
        for record, truth in truths
    ]
    return sum(map(bool, right)), len(right)


def target_of(record: Record) -> str:
    parts = urlsplit(record.page.url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def addresses_in(told: str) -> list[str]:
    return [word for word in told.partition("What to open")[2].split() if word.startswith("/")]


def test_the_tour_ends_with_true_records() -> None:
    take_tour()
    n_right, n_records = right_and_all("name")

    assert Annotation.objects.live().values("page").distinct().count() == 3
    assert GoldenRecord.objects.filter(rule=Rule.objects.published().get()).count() >= 5
    assert n_right == n_records >= 5


def test_a_second_tour_adds_nothing_and_leaves_what_people_did() -> None:
    take_tour()
    annotated = (
        Annotation.objects.live()
        .filter(attribute__name="name")
        .select_related("snapshot", "attribute")[0]
    )
    annotate(snapshot=annotated.snapshot, attribute=annotated.attribute, marks=[], actor=None)
    before = counts()
    output = take_tour()

    assert before == counts()
    for word in ("clustered", "drawn", "annotated", "published", "extracted"):
        assert f"{word} before" in output


def test_every_address_that_the_tour_tells_opens() -> None:
    addresses = addresses_in(take_tour())
    client = Client()
    client.force_login(User.objects.get(username="admin"))

    assert len(addresses) >= 10
    assert dict.fromkeys(addresses, 200) == {
        address: client.get(address).status_code for address in addresses
    }


def test_what_fails_is_told_and_the_next_tour_makes_up_for_it(installation: Path) -> None:
    in_the_way = installation / "demo"
    in_the_way.write_text("a file where the demo wants its folder")
    with pytest.raises(CommandError, match="2 parts failed, see above"):
        take_tour()
    assert Clustering.objects.current().filter(site__name=SITE).exists()
    assert Annotation.objects.count() == Record.objects.count() == 0
    assert User.objects.filter(username="admin").exists()

    in_the_way.unlink()
    output = take_tour()
    assert "failed:" not in output
    assert "clustered before" in output
    assert Record.objects.count() > 0
