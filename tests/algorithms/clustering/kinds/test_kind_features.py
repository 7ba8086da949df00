"""The numbers that tell lists from pages about one thing."""

from __future__ import annotations

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.kind_features import (
    ClusterFacts,
    KindFeatures,
    SiteLinks,
    kind_features,
)
from clustering.algorithms.kinds.page_facts import read_facts

ROOT = "https://a.example/"


def cluster(pages: dict[str, str]) -> ClusterFacts:
    facts = [read_facts(RawPage(ROOT + path, body.encode())) for path, body in pages.items()]
    return ClusterFacts(facts, [page.url for page in facts])


def features(*clusters: ClusterFacts) -> list[KindFeatures]:
    site = SiteLinks(clusters)
    return [kind_features(number, site) for number in range(len(clusters))]


def things(n: int = 6) -> ClusterFacts:
    return cluster(
        {
            f"t/{k}": f"<h1>Pot {k}</h1><dl><dt>Price<dd>{k}.50<dt>Weight<dd>{k} kg</dl>"
            for k in range(n)
        }
    )


def lists() -> ClusterFacts:
    return cluster(
        {
            f"tag/{name}": "<h1>Pots</h1><ul>"
            + "".join(f"<li><a href=/t/{k}>Pot {k}</a> is {name}" for k in numbers)
            + "</ul>"
            for name, numbers in {"red": range(4), "blue": range(2, 6), "new": range(4, 9)}.items()
        }
    )


def test_labels_with_values_that_differ_are_slots() -> None:
    same = cluster({f"t/{k}": "<h1>Pot</h1><dl><dt>Price<dd>1.50</dl>" for k in range(4)})

    assert features(things())[0].n_slots > 1.0
    assert features(same)[0].n_slots == 0.0


def test_own_links_lead_from_lists_to_things() -> None:
    [of_things, of_lists] = features(things(), lists())

    assert (of_things.links_in, of_lists.links_in) == (0.5, 0.0)
    assert of_lists.size_ratio > 0 == of_things.size_ratio
    assert of_lists.repeat_own_links > 0.3 > of_things.repeat_own_links


def test_links_of_all_pages_are_a_menu() -> None:
    menu = "<ul>" + "".join(f"<li><a href=/t/{k}>Pot {k}</a>" for k in range(6)) + "</ul>"
    about = cluster({f"news/{k}": f"<h1>News {k}</h1>{menu}<p>Text {k}" for k in range(4)})

    assert features(things(), about)[1].repeat_own_links == 0.0


def test_addresses_tell_lists_by_words_and_page_numbers() -> None:
    [of_tags] = features(lists())
    [of_pages] = features(cluster({f"news/page/{k}": "<p>Text" for k in range(1, 4)}))

    assert of_tags.list_words_in_address == 1.0
    assert of_pages.pages_are_numbered == 1.0


def test_links_to_the_next_pages_are_a_pager() -> None:
    pager = "<nav class='wp-pagination'><a href=/2>2</a></nav>"
    of_lists, of_things = features(
        cluster({f"tag/{k}": f"<body><h1>Tag {k}</h1>{pager}" for k in range(3)}), things()
    )

    assert (1.0, 0.0) == (of_lists.has_pager, of_things.has_pager)


def test_a_single_page_can_be_measured() -> None:
    assert features(cluster({"x": "<p>Text"}))[0].n_slots == 0
