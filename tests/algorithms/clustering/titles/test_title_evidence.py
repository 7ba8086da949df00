"""The evidence for phrases."""

from __future__ import annotations

from collections.abc import Sequence

from clustering.algorithms.titles.title_evidence import PagePhrases, Qualifier, TitleEvidence
from clustering.algorithms.titles.title_phrases import Phrase, Source

URL = "http://www.treeworld.co.uk/x"


def cluster(*phrases: tuple[Source, str], others: Sequence[tuple[Source, str]] = ()) -> PagePhrases:
    """Return a cluster of four pages with these phrases; the others stand on two of them."""
    pages = [[Phrase(*pair) for pair in phrases] for _ in range(4)]
    for page in pages[:2]:
        page += [Phrase(*pair) for pair in others]
    return PagePhrases([URL] * 4, [pages])


def best(*clusters: PagePhrases) -> str:
    return TitleEvidence(clusters).best_phrase(0)


OTHERS = [cluster((Source.FOLDER, word)) for word in ("shop", "team", "tour")]


def test_the_trusted_source_comes_first() -> None:
    oaks = cluster((Source.FILE, "oak"), (Source.HEADING, "Tree"))

    assert "Tree" == best(oaks, *OTHERS)


def test_what_two_sources_say_beats_what_one_says() -> None:
    oaks = cluster((Source.HEADING, "Tree"), (Source.FOLDER, "oaks"), (Source.EDGE, "oak"))

    assert "oaks" == best(oaks, *OTHERS)


def test_what_other_clusters_have_separates_nothing() -> None:
    first, second = (
        cluster((Source.HEADING, "Our trees"), (Source.FILE, word)) for word in ("oak", "elm")
    )

    assert "oak" == best(first, second)


def test_what_half_of_the_pages_have_names_nothing() -> None:
    assert "" == best(cluster(others=[(Source.HEADING, "Tree")]), *OTHERS)


def test_labels_alone_name_nothing_but_support_others() -> None:
    price = (Source.LABEL, "Price")

    assert "" == best(cluster(price), *OTHERS)
    assert (
        "price"
        == best(cluster(price, (Source.FILE, "price"), (Source.FOLDER, "oak")), *OTHERS).lower()
    )


def test_a_class_counts_with_words_that_a_text_shows() -> None:
    look = cluster((Source.CLASS, "widecolumn"))

    assert "" == best(look, *OTHERS)
    assert "Widecolumn" == best(look, cluster((Source.LABEL, "Widecolumn")), *OTHERS)


def test_texts_write_apart_and_in_capitals_what_addresses_do_not() -> None:
    works = cluster((Source.FOLDER, "writtenwork"), (Source.BREADCRUMB, "Written works"))
    names = cluster((Source.FOLDER, "isbn"), (Source.LABEL, "ISBN"))

    assert "Written works" == best(works, *OTHERS)
    assert "ISBN" == best(names, *OTHERS)


def test_of_a_single_cluster_the_name_of_the_site_is_left_out() -> None:
    oaks = cluster((Source.HEADING, "Tree world"), (Source.FILE, "oak"))

    assert "oak" == best(oaks)


def test_the_last_resort_is_a_type_or_what_one_other_cluster_has() -> None:
    oak = cluster((Source.FOLDER, "oak"), (Source.HEADING, "Our trees"))
    page = cluster((Source.TYPE, "Page"))

    assert "oak" == TitleEvidence([oak, oak]).last_resort(0)
    assert "" == TitleEvidence([oak, oak, oak]).last_resort(0)
    assert "Page" == TitleEvidence([page, page, page]).last_resort(0)


def test_qualifiers_are_what_the_fewest_rivals_have() -> None:
    tree = (Source.FOLDER, "tree")
    evidence = TitleEvidence(
        [
            cluster(tree, (Source.FOLDER, "bark"), (Source.LABEL, "Age")),
            cluster(tree, (Source.FOLDER, "bark")),
            cluster(tree),
            *OTHERS,
        ]
    )

    assert [
        Qualifier("Age", Source.LABEL),
        Qualifier("bark", Source.FOLDER),
    ] == evidence.qualifiers(0, "Tree", [0, 1, 2])
    assert [] == evidence.qualifiers(2, "Tree", [0, 1, 2])
