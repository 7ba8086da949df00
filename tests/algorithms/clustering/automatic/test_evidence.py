"""The families of features by which groups are compared."""

from __future__ import annotations

import numpy as np

from clustering.algorithms.automatic.evidence import FAMILIES, SiteEvidence, collect_evidence
from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.page_walk import hash_text
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.url_patterns import address_patterns

PAGE = """<html><head><title>Oak {n}</title><meta property="og:type" content="{kind}"></head>
<body class="page-{n} {kind}"><main><div id=post-{n}><p>{n}</p></div></main></body></html>"""


def evidence() -> SiteEvidence:
    urls = [f"http://a.b/{'tree' if n < 6 else 'bush'}/{n}" for n in range(10)]
    pages = [
        observe(RawPage(url, PAGE.format(n=n, kind="oak" if n < 6 else "elm").encode()))
        for n, url in enumerate(urls)
    ]
    return collect_evidence(tabulate(pages), pages, urls, address_patterns(urls))


def pages_with(site: SiteEvidence, family: str, token: str) -> list[int]:
    features = site.families[FAMILIES.index(family)]
    columns = np.flatnonzero(features.hashes == np.uint64(hash_text(token)))
    return np.flatnonzero(features.incidence[:, columns].toarray().any(axis=1)).tolist()


def test_there_is_a_set_of_features_for_each_family() -> None:
    assert len(FAMILIES) == len(evidence().families)


def test_what_a_page_declares_and_its_classes_are_evidence() -> None:
    assert [0, 1, 2, 3, 4, 5] == pages_with(evidence(), "declared", "og:type oak")
    assert [6, 7, 8, 9] == pages_with(evidence(), "frame", "body.elm")


def test_numbers_in_ids_make_no_page_special() -> None:
    """Digits are folded, so that all pages have the id, which tells nothing then."""
    skeleton = evidence().families[FAMILIES.index("skeleton")]

    assert hash_text("/html/body/main/div#post-3") not in skeleton.hashes.tolist()


def test_addresses_are_evidence() -> None:
    assert [6, 7, 8, 9] == pages_with(evidence(), "address words", "0 bush")


def test_a_silenced_family_has_no_features() -> None:
    silenced = evidence().silencing([FAMILIES.index("frame")])

    assert 0 == len(silenced.families[FAMILIES.index("frame")].hashes)
    assert len(silenced.families[FAMILIES.index("declared")].hashes)
