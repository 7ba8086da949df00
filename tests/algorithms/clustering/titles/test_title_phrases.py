"""The phrases of pages."""

from __future__ import annotations

import pytest

from clustering.algorithms.titles.page_kinds import PageKind
from clustering.algorithms.titles.schema_types import DeclaredType
from clustering.algorithms.titles.title_phrases import (
    Phrase,
    Source,
    phrases_of_address,
    phrases_of_heading,
    phrases_of_kind,
    phrases_of_labels,
)


@pytest.mark.parametrize(
    ("path", "phrase"),
    [
        ("brand/oak", Phrase(Source.FOLDER, "brand")),
        ("u/oak", Phrase(Source.FOLDER, "user")),
        ("tree/oak/notes", Phrase(Source.FILE, "notes")),
        ("index.php?mod=article&id=7", Phrase(Source.QUERY_VALUE, "article")),
        ("view.php?product_id=7", Phrase(Source.QUERY_KEY, "product")),
        ("viewtopic.php?t=7", Phrase(Source.FILE, "topic")),
        ("guide-7.html", Phrase(Source.EDGE, "guide")),
        ("team_31_roster_page.html", Phrase(Source.EDGE, "roster")),
        ("%E6%9C%A8%E3%81%AE%E6%9C%AC/7", Phrase(Source.FOLDER, "木の本")),
    ],
)
def test_addresses_have_phrases(path: str, phrase: Phrase) -> None:
    assert phrase in set(phrases_of_address(f"http://a.b/{path}"))


@pytest.mark.parametrize("path", ["", "p/7", "7", "index.php?page=7", "static/main.html"])
def test_technique_and_numbers_are_none(path: str) -> None:
    assert [] == list(phrases_of_address(f"http://a.b/{path}"))


def test_the_key_of_a_telling_value_names_nothing() -> None:
    assert [Phrase(Source.QUERY_VALUE, "specs")] == list(
        phrases_of_address("http://a.b/?tab=specs")
    )


def test_headings_have_phrases_by_their_parts() -> None:
    assert {
        Phrase(Source.HEADING, "Shop"),
        Phrase(Source.HEADING_BEGINNING, "Tag"),
        Phrase(Source.HEADING_BEGINNING, "Tag number"),
    } == set(phrases_of_heading("Tag number 7 | Shop"))


def test_places_on_a_site_and_sentences_are_none() -> None:
    sentence = phrases_of_heading("All that you ever want to know")

    assert [] == list(phrases_of_heading("Home"))
    assert Source.HEADING not in {phrase.source for phrase in sentence}


def test_only_short_labels_count() -> None:
    labels = ["Opening hours", "7 seats", "word " * 9, "more"]

    assert [Phrase(Source.LABEL, "Opening hours")] == list(phrases_of_labels(labels))


def test_types_breadcrumbs_and_classes_have_phrases() -> None:
    kind = PageKind(
        types=(
            DeclaredType("JobPosting", 1),
            DeclaredType("Person", 1),
            DeclaredType("ItemList", 1),
        ),
        tokens=("page-tour", "sold-out", "mx-2"),
        breadcrumb=("Home", "Municipal code.", "Title"),
    )

    assert [
        Phrase(Source.TYPE, "Job"),
        Phrase(Source.SECONDARY_TYPE, "person"),
        Phrase(Source.BREADCRUMB, "Title"),
        Phrase(Source.BREADCRUMB_ABOVE, "Municipal code"),
        Phrase(Source.PAGE_CLASS, "tour"),
        Phrase(Source.CLASS, "sold out"),
    ] == list(phrases_of_kind(kind))
