"""Weigh the phrases that may name a cluster by how well they separate it from the others.

Notation:   A phrase is shared where NEARLY_ALL pages of a cluster have it. Its separation is the
            share of these pages, times the square of the share of the other clusters' pages that
            have it not. The trust in a source is how often its best phrase names a cluster as
            people do, measured on labelled sites. The key of a phrase is its words without blanks,
            in small letters and in the singular: "written works" and "writtenwork" have one key.
Readings:   The evidence of a phrase is the sum over all sources of the trust, times the separation
            of the source's phrases, times the similarity (the common words among all words of
            both), the best of each source. So what two sources have in common beats what one has.
            Labels only support what another source says: alone they are field names and menus.
            Classes count where a text of the site has their words, else they name a look. Of a site
            with one cluster nothing is separate; there the name in the host is left out.
Cost:       Linear in the phrases of the pages; quadratic in the MAX_WEIGHED best of a cluster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from clustering.algorithms.titles.title_phrases import Phrase, Source
from clustering.algorithms.titles.title_words import folded_words

NEARLY_ALL = 0.8  # of a cluster's pages
MIN_SEPARATION = 0.3
MIN_EVIDENCE = 0.2
MAX_WEIGHED = 60  # phrases of a cluster

# Measured and rounded: see docs/benchmarks/titles.md.
TRUST = {
    Source.HEADING: 0.9,
    Source.TYPE: 0.9,
    Source.BREADCRUMB: 0.95,
    Source.BREADCRUMB_ABOVE: 0.9,
    Source.EDGE: 0.85,
    Source.FOLDER: 0.8,
    Source.HEADING_BEGINNING: 0.7,
    Source.HEADING_END: 0.7,
    Source.PAGE_CLASS: 0.8,
    Source.CLASS: 0.7,
    Source.FILE: 0.7,
    Source.QUERY_KEY: 0.3,
    Source.QUERY_VALUE: 0.5,
    Source.SECONDARY_TYPE: 0.4,
    Source.LABEL: 0.3,
}
_EDGES_OF_HEADINGS = frozenset({Source.HEADING_BEGINNING, Source.HEADING_END})
_TEXTS = _EDGES_OF_HEADINGS | {
    Source.HEADING,
    Source.BREADCRUMB,
    Source.BREADCRUMB_ABOVE,
    Source.LABEL,
}
# What a single page has of these is not what it shares with others of its kind.
_OF_SEVERAL_PAGES = _EDGES_OF_HEADINGS | {Source.LABEL, Source.CLASS, Source.PAGE_CLASS}
_SUFFIXES_OF_HOSTS = frozenset({"co", "com", "org", "net", "ac", "edu", "gov"})


class PagePhrases(NamedTuple):
    """The phrases of a cluster's pages, by what they were read from."""

    urls: Sequence[str]
    readings: Sequence[Sequence[Iterable[Phrase]]]  # of each reading, the phrases of each page


class SharedPhrase(NamedTuple):
    """A phrase that nearly all pages of a cluster have."""

    source: Source
    key: str
    words: frozenset[str]  # folded
    text: str
    share: float  # of the pages


class WeighedPhrase(NamedTuple):
    """A phrase with the trust in its source times its separation."""

    phrase: SharedPhrase
    weight: float


class Qualifier(NamedTuple):
    """A phrase that tells a cluster from others of the same title."""

    text: str
    source: Source


class TitleEvidence:
    """The phrases of a site's clusters, and in how many clusters each of them is shared."""

    def __init__(self, clusters: Sequence[PagePhrases]) -> None:
        self.shared = [_shared_phrases(cluster) for cluster in clusters]
        self.keys = [{phrase.key for phrase in phrases} for phrases in self.shared]
        self.n_others = len(clusters) - 1
        self.total_share: dict[tuple[Source, str], float] = defaultdict(float)
        self.words_of_texts: set[str] = set()
        self.texts_by_key: dict[str, set[str]] = defaultdict(set)
        for phrases in self.shared:
            for phrase in phrases:
                self.total_share[phrase.source, phrase.key] += phrase.share
                if phrase.source in _TEXTS:
                    self.words_of_texts |= phrase.words
                    self.texts_by_key[phrase.key].add(phrase.text)
        self.site_names = {_site_name(cluster.urls[0]) for cluster in clusters if cluster.urls}

    def best_phrase(self, number: int) -> str:
        """Return the phrase with most evidence for a cluster; blank where none has enough."""
        weighed = self.weighed_phrases(number)
        best: SharedPhrase | None = None
        most = (MIN_EVIDENCE, 0)
        for phrase, _ in sorted(
            weighed, key=lambda each: (each.phrase.source.value, each.phrase.text)
        ):
            # Of equal evidence the longer phrase says more: "game log" rather than "log".
            rank = (round(_evidence_of(phrase, weighed), 6), len(phrase.words))
            if rank > most:
                best, most = phrase, rank
        return self.as_written(best) if best else ""

    def weighed_phrases(self, number: int) -> list[WeighedPhrase]:
        """Return the phrases that separate a cluster from others, the weightiest first."""
        weighed = []
        for phrase in self.shared[number]:
            separation = self.separation(phrase)
            if separation >= MIN_SEPARATION:
                weighed.append(WeighedPhrase(phrase, TRUST[phrase.source] * separation))
        weighed.sort(key=lambda each: (-each.weight, each.phrase.source.value, each.phrase.key))
        return weighed[:MAX_WEIGHED]

    def separation(self, phrase: SharedPhrase) -> float:
        """Return how well a phrase separates its cluster from the others, at most 1."""
        if self.says_nothing(phrase):
            return 0.0
        if not self.n_others:
            return phrase.share
        share_of_others = self.n_others_sharing(phrase) / self.n_others
        return phrase.share * (1 - share_of_others) ** 2

    def n_others_sharing(self, phrase: SharedPhrase) -> float:
        """Return the sum of the shares that a phrase has in other clusters."""
        return self.total_share[phrase.source, phrase.key] - phrase.share

    def says_nothing(self, phrase: SharedPhrase) -> bool:
        """Return whether a phrase names the site, or is a class that no text explains."""
        if not self.n_others and self.site_names.intersection([phrase.key, *phrase.words]):
            return True
        return phrase.source is Source.CLASS and not phrase.words <= self.words_of_texts

    def last_resort(self, number: int) -> str:
        """Return the most trusted type, address word or class; blank without one.

        A type may be that of any number of other clusters, a word that of one.
        """
        phrases = []
        for phrase in self.shared[number]:
            is_rare = self.n_others_sharing(phrase) <= 1 and not self.says_nothing(phrase)
            if phrase.source is Source.TYPE or (is_rare and phrase.source not in _TEXTS):
                phrases.append(phrase)
        best = min(phrases, key=lambda each: (-TRUST[each.source], each.text), default=None)
        return self.as_written(best) if best else ""

    def qualifiers(self, number: int, title: str, rivals: Sequence[int]) -> list[Qualifier]:
        """Return phrases of a cluster that not all its rivals have, the best first."""
        title_words = set(folded_words(title))
        n_rivals_by_key = Counter(key for rival in rivals for key in self.keys[rival])
        own = []
        for phrase in self.shared[number]:
            if n_rivals_by_key[phrase.key] == len(rivals) or phrase.words & title_words:
                continue
            separation = self.separation(phrase)
            if phrase.source not in _EDGES_OF_HEADINGS and separation >= MIN_SEPARATION:
                weight = TRUST[phrase.source] * separation
                own.append((n_rivals_by_key[phrase.key], -weight, phrase))
        own.sort(key=lambda each: (each[0], each[1], each[2].text))
        return [Qualifier(self.as_written(phrase), phrase.source) for _, _, phrase in own]

    def as_written(self, phrase: SharedPhrase) -> str:
        """Return a phrase as the texts of the site write it: in several words, in capitals."""
        letters = _letters(phrase.text)
        texts = [
            text for text in self.texts_by_key.get(phrase.key, ()) if _letters(text) == letters
        ]
        return max(texts, key=lambda text: (text.count(" "), text), default=phrase.text)


def _evidence_of(phrase: SharedPhrase, weighed: Sequence[WeighedPhrase]) -> float:
    """Return the evidence for a phrase from all sources, 0 where only labels have it."""
    support: dict[Source, float] = defaultdict(float)
    for other, weight in weighed:
        support[other.source] = max(support[other.source], weight * _similarity(phrase, other))
    evidence = sum(support.values())
    return evidence if evidence > support[Source.LABEL] else 0.0


def _shared_phrases(cluster: PagePhrases) -> list[SharedPhrase]:
    """Return the phrases that nearly all pages of a cluster have."""
    shared: dict[tuple[Source, str], SharedPhrase] = {}
    for phrases_by_page in cluster.readings:
        n_pages = len(phrases_by_page)
        n_by_key: Counter[tuple[Source, str]] = Counter()
        n_by_text: dict[tuple[Source, str], Counter[str]] = defaultdict(Counter)
        for phrases in phrases_by_page:
            keys_of_page = set()
            for source, text in phrases:
                source_and_key = (source, "".join(folded_words(text)))
                keys_of_page.add(source_and_key)
                n_by_text[source_and_key][text] += 1
            n_by_key.update(keys_of_page)
        for (source, key), n in n_by_key.items():
            if n < NEARLY_ALL * n_pages or (n_pages == 1 and source in _OF_SEVERAL_PAGES):
                continue
            text = _most_frequent(n_by_text[source, key])
            phrase = SharedPhrase(source, key, frozenset(folded_words(text)), text, n / n_pages)
            known = shared.get((source, key))
            if known is None or known.share < phrase.share:
                shared[source, key] = phrase
    return list(shared.values())


def _most_frequent(n_by_text: Counter[str]) -> str:
    return min(n_by_text, key=lambda text: (-n_by_text[text], text))


def _similarity(a: SharedPhrase, b: SharedPhrase) -> float:
    """Return the share of common words among all words of two phrases."""
    if a.key == b.key:
        return 1.0
    return len(a.words & b.words) / len(a.words | b.words)


def _letters(text: str) -> str:
    return "".join(text.split()).casefold()


def _site_name(url: str) -> str:
    """Return the name of a site in its host, folded.

    >>> _site_name("http://www.some-shop.co.uk/x")
    'someshop'
    """
    labels = (urlsplit(url).hostname or "").split(".")[:-1]
    while labels and labels[-1] in _SUFFIXES_OF_HOSTS:
        labels.pop()
    return "".join(folded_words(labels[-1])) if labels else ""
