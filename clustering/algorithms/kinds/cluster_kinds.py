"""Tell of what kind each cluster of a site is, and with what certainty.

Notation:   A detail cluster has pages about one thing each; all other kinds are worth no annotation
            of fields. The certainty is from 0 to 1.
Readings:   What most pages show decides, in this order: errors, a request to log in, an address
            that asks the page's own search, a site's start, addresses that name what every site has
            (help, contact, terms). What is left is a list or about a thing: a logistic regression
            over the features tells these apart.
Departures: The weight of a feature has the sign that its meaning asks for; a feature that the
            training sites would turn round has none. Weights are plain JSON, written by `python -m
            benchmarks.cluster_kinds`.
Cost:       That of the features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from math import exp
from statistics import mean
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from clustering.algorithms.kinds.kind_features import (
    ClusterFacts,
    KindFeatures,
    SiteLinks,
    kind_features,
)
from clustering.algorithms.kinds.kind_names import (
    DETAIL,
    ERROR,
    LIST,
    LOGIN,
    NAVIGATION,
    OTHER,
    SEARCH,
)
from clustering.algorithms.kinds.page_facts import PageFacts
from clustering.algorithms.titles.title_words import (
    SITE_WORDS,
    is_start,
    query_keys,
    title_parts,
)

MIN_SHARE = 0.6  # of the pages, for what they show to decide
# A page with more texts is more than its form; many pages show a log-in beside all else.
MAX_TEXTS_OF_FORM = 60
MAX_SEGMENTS = 2  # of the address of a page about the site
CERTAINTY_OF_START, CERTAINTY_OF_OTHER = 0.9, 0.75
UNKNOWN = 0.5  # the certainty of a guess

_ERROR = re.compile(
    r"^[^\w\n]*+(?:404|410|50\d|error|fehler|erreur|エラー)(?!\w)|\berror [45]\d\d\b|not found"
    r"|(?:page|site|listing|article|item) (?:is )?(?:gone|missing|unavailable)"
    r"|no longer (?:available|exists)|does(?: not|n.t) exist|(?:internal )?server error"
    r"|service (?:temporarily )?unavailable|bad gateway|gateway time-?out|under maintenance"
    r"|something went wrong|nicht gefunden|introuvable|no encontrad|non trovat|não encontrad"
    r"|niet gevonden|nie znaleziono|nenalezen|не найден|見つかりません|未找到|찾을 수 없",
    re.IGNORECASE | re.MULTILINE,
)
_ERROR_TOKEN = re.compile(
    r"(?:page-?|is-?)?(?:error-?)?(?:404|not-?found)(?:-page)?", re.IGNORECASE
)
_RESULTS = re.compile(
    r"search results|results for|resultados de|résultats|suchergebnis|検索結果", re.IGNORECASE
)
_LOGIN = re.compile(
    r"\W*(?:please )?(?:(?:member |user )?log[ -]?[io]n|sign[ -]?in|log on|members only)\b.{0,40}"
    r"|\W*(?:anmelden|anmeldung|einloggen|connexion|identification|iniciar sesi[oó]n|accedi"
    r"|inloggen|entrar|zaloguj|logowanie|přihlášení|вход|войти|ログイン|登录|登入|로그인)\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_SEARCH_WORDS = frozenset({"search", "suche", "recherche", "buscar", "busca", "find"})


@dataclass(frozen=True, slots=True)
class JudgedKind:
    """Of what kind a cluster is."""

    kind: str
    certainty: float


class Weights(NamedTuple):
    """What was learnt: a logistic regression on scaled features; above 0 is a list."""

    means: KindFeatures
    scales: KindFeatures
    weights: KindFeatures
    bias: float

    def list_probability(self, features: KindFeatures) -> float:
        terms = zip(features, self.means, self.scales, self.weights, strict=True)
        margin = sum(weight * (value - mean) / scale for value, mean, scale, weight in terms)
        return 1 / (1 + exp(-margin - self.bias))


def cluster_kinds(
    clusters: Sequence[ClusterFacts], weights: Weights | None = None
) -> list[JudgedKind]:
    """Return the kind of each cluster of a site; one of which no page was read is a guess.

    `weights` are those that ship unless others are given.
    """
    site = SiteLinks(clusters)
    weights = weights or load_weights()
    kinds = []
    for number, cluster in enumerate(clusters):
        kind = _shown_kind(cluster)
        kinds.append(kind or _learnt_kind(number, site, weights))
    return kinds


def _shown_kind(cluster: ClusterFacts) -> JudgedKind | None:
    """Return the kind that most pages show, None where they show none of these."""
    share_of_errors = _share(cluster, _is_error)
    if share_of_errors >= MIN_SHARE:
        return JudgedKind(ERROR, share_of_errors)
    share_of_logins = _share(cluster, _is_login)
    if share_of_logins >= MIN_SHARE:
        return JudgedKind(LOGIN, share_of_logins)
    share_of_results = _share(cluster, _is_search)
    if share_of_results >= MIN_SHARE:
        return JudgedKind(SEARCH, share_of_results)
    if cluster.urls and all(map(is_start, cluster.urls)):
        return JudgedKind(NAVIGATION, CERTAINTY_OF_START)
    if _share(cluster, _is_about_site) >= MIN_SHARE:
        return JudgedKind(OTHER, CERTAINTY_OF_OTHER)
    return None


def _learnt_kind(number: int, site: SiteLinks, weights: Weights) -> JudgedKind:
    if not site.clusters[number].pages:
        return JudgedKind(DETAIL, UNKNOWN)
    probability = weights.list_probability(kind_features(number, site))
    if probability > 0.5:
        return JudgedKind(LIST, round(probability, 3))
    return JudgedKind(DETAIL, round(1 - probability, 3))


def _share(cluster: ClusterFacts, is_so: Callable[[PageFacts], bool]) -> float:
    return mean(map(is_so, cluster.pages)) if cluster.pages else 0.0


def _is_error(page: PageFacts) -> bool:
    if page.status >= HTTPStatus.BAD_REQUEST or any(map(_ERROR_TOKEN.fullmatch, page.shown.tokens)):
        return True
    return _ERROR.search(page.message) is not None


def _is_login(page: PageFacts) -> bool:
    """Return whether a page is headed by a request to log in, or asks for little but a password."""
    if _LOGIN.fullmatch(page.heading or next(iter(title_parts(page.title)), "")):
        return True
    return page.shown.n_passwords > 0 and len(page.texts) <= MAX_TEXTS_OF_FORM


def _is_search(page: PageFacts) -> bool:
    if any(name == "SearchResultsPage" for name, _ in page.shown.types):
        return True
    parts = urlsplit(page.url)
    if not page.shown.search_keys.isdisjoint(query_keys(page.url)):
        return True
    if _RESULTS.search(f"{page.title}\n{page.heading}"):
        return True
    # What stands in a folder of the search, such as `/search/item.jsp?id=7`, is found by it.
    name = parts.path.rstrip("/").rpartition("/")[2]
    return bool(parts.query) and not _SEARCH_WORDS.isdisjoint(_words_of(name))


def _is_about_site(page: PageFacts) -> bool:
    segments = urlsplit(page.url).path.strip("/").split("/")
    return len(segments) <= MAX_SEGMENTS and not SITE_WORDS.isdisjoint(_words_of(segments[0]))


def _words_of(path: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(unquote(path))]


def load_weights() -> Weights:
    """Return the weights that ship."""
    stored = json.loads((files(__package__) / "weights" / "kinds.json").read_text())
    columns = stored["features"]
    return Weights(
        means=KindFeatures(**{name: column["mean"] for name, column in columns.items()}),
        scales=KindFeatures(**{name: column["scale"] for name, column in columns.items()}),
        weights=KindFeatures(**{name: column["weight"] for name, column in columns.items()}),
        bias=stored["bias"],
    )
