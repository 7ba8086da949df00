"""What the default clusterer keeps of a page."""

from __future__ import annotations

import pickle

import pytest

from clustering.algorithms.automatic.page_features import PageFeatures, feature_names, observe
from clustering.algorithms.automatic.page_walk import MAX_FEATURES, MAX_TEXTS, label_of
from clustering.algorithms.grouping import RawPage


def seen(html: str) -> PageFeatures:
    return observe(RawPage("http://a.b/", html.encode()))


def content_by_name(html: str) -> dict[str, int]:
    page = seen(html)
    return dict(zip(feature_names(page), page.contents.tolist(), strict=True))


def texts_in_order(html: str) -> list[str]:
    page = seen(html)
    names = list(feature_names(page))
    labels = page.labels.split("\n")
    hashes = {
        int(value): label
        for value, label in zip(dict.fromkeys(page.texts.tolist()), labels, strict=True)
    }
    return [
        f"{names[place]}={hashes[int(text)]}"
        for place, text in zip(page.places, page.texts, strict=True)
    ]


def test_a_path_has_neither_positions_nor_counts() -> None:
    assert set(feature_names(seen("<p>a<p>b"))) == {"/html", "/html/body", "/html/body/p"}


def test_class_tokens_id_itemprop_and_meta_names_are_features_of_their_own() -> None:
    names = set(feature_names(seen('<meta name=author><p id=x class="a b" itemprop=price>1')))

    assert {p.removeprefix("/html") for p in names} >= {
        "/head/meta@author",
        "/body/p#x",
        "/body/p.a",
        "/body/p.b",
        "/body/p@price",
    }


def test_metas_are_told_apart_by_their_names() -> None:
    names = set(feature_names(seen("<meta name=a><meta name=b><meta property=c>")))

    assert {"/html/head/meta@a", "/html/head/meta@b", "/html/head/meta@c"} <= names


def test_texts_come_in_document_order_tails_included() -> None:
    result = texts_in_order("<div>a<b>c</b>d<!-- e -->f<i>g</i></div>")

    assert [line.removeprefix("/html/body") for line in result] == [
        "/div=a",
        "/div/b=c",
        "/div=d",
        "/div=f",
        "/div/i=g",
    ]


def test_scripts_and_styles_have_no_text() -> None:
    assert texts_in_order("<body><script>a</script>b<style>c</style>") == ["/html/body=b"]


def test_content_changes_with_the_text_alone() -> None:
    first, second = (
        content_by_name("<p class=x>1</p><i>0</i>"),
        content_by_name("<p class=x>2</p><i>0</i>"),
    )

    assert {name for name in first if first[name] != second[name]} == {
        "/html/body/p",
        "/html/body/p.x",
    }


def test_title_and_first_heading_are_kept() -> None:
    page = seen("<title> A  page </title><h1>One <b>two</b></h1><h1>Three</h1>")

    assert (page.title, page.heading) == ("A page", "One two")


@pytest.mark.parametrize(
    ("text", "label"),
    [("Price:", "Price"), ("  Opening \n hours : ", "Opening hours"), ("x" * 61, ""), ("", "")],
)
def test_a_label_loses_blanks_and_its_colon(text: str, label: str) -> None:
    assert label_of(text) == label


def test_an_observation_is_small_and_survives_a_process_border() -> None:
    page = seen("<div>" + "<p class=a>text</p>" * 1000)
    packed = pickle.dumps(page)

    assert len(packed) < 20_000
    assert pickle.loads(packed).features.tolist() == page.features.tolist()


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<",
        "<!-- only a comment -->",
        "<div>" * 50_000,
        "<p>" + "x" * 1_000_000,
        "".join(f"<i id=n{n}>{n}</i>" for n in range(20_000)),
        "<p class='" + " ".join(f"c{n}" for n in range(50_000)) + "'>x",
        "<o:p>\ud800</o:p>".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    ],
)
def test_hostile_pages_are_no_larger_than_honest_ones(html: str) -> None:
    page = seen(html)

    assert len(page.features) <= MAX_FEATURES + 100
    assert len(page.texts) <= MAX_TEXTS
    assert (
        len(list(feature_names(page)))
        == len(page.features)
        == len(page.contents)
        == len(page.owners)
    )
