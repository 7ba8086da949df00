"""What every algorithm that groups pages takes and returns.

An algorithm works in two steps. `observe` reduces one page to what the algorithm needs of it, so
that a site of any size passes page by page and no tree stays in memory. `cluster_pages` groups the
pages from their observations and from what the site offers beside them: its links, its search log.
The Grouping that it returns carries a model of plain JSON values, with which `assign` finds the
group of a later page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import xxhash
from lxml.html import HtmlElement

from clustering.algorithms.parameters import Parameter, Value, read_values
from clustering.dom.page import ParsedPage, parse_page
from vertex.core.texts import storable

Observation: TypeAlias = Any  # each algorithm has a kind of its own
Model: TypeAlias = dict[str, Any]  # JSON values only

MAX_GROUP_CHARS = 100


class TooManyPages(ValueError):
    """The algorithm is quadratic by nature and refuses more pages than it states."""


class EvidenceMissing(ValueError):
    """The algorithm needs something that the site does not offer, such as links or a search log."""


@dataclass(frozen=True)
class RawPage:
    """A page as it is stored; it is parsed when an algorithm asks for its tree."""

    url: str
    body: bytes
    content_type: str = ""
    # Of the first link to the page, with positions; blank where none is known.
    inbound_xpath: str = ""
    is_unreadable: bool = False  # its bytes are gone or damaged: nobody knows what is on it

    @cached_property
    def parsed(self) -> ParsedPage:
        return parse_page(self.body, self.content_type)

    @property
    def tree(self) -> HtmlElement | None:
        return self.parsed.tree


@dataclass(frozen=True, slots=True)
class SiteLink:
    """A link between two pages of the site."""

    source: str  # URL
    xpath: str  # of the link's element, with positions
    target: str  # URL
    text: str = ""


@dataclass(frozen=True, slots=True)
class Click:
    """How often searchers for a query went to a page."""

    query: str
    url: str
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What a person says of two sets of pages: that one template made both, or two."""

    left: Sequence[str]  # URLs, the most typical first
    right: Sequence[str]
    is_same: bool


@dataclass(frozen=True, slots=True)
class ClusteringInputs:
    """What a site offers beside the pages themselves."""

    links: Sequence[SiteLink] = ()  # in the order in which they were first seen
    clicks: Sequence[Click] = ()
    has_derived_clicks: bool = False  # made from anchor texts, where there is no search log
    redirected: frozenset[str] = frozenset()  # URLs reached by a redirect only
    answers: Sequence[PageAnswer] = ()  # in the order in which they were given; they always hold
    # Returns the tree of a page, for algorithms that read few.
    read: Callable[[str], HtmlElement | None] | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """Pages of a group that look alike, and what tells them from its other layouts, in words."""

    name: str  # unique in the group, the same for the same pages in any order
    members: Sequence[int]  # indices of the pages, ascending
    has: Sequence[str] = ()  # what other layouts lack, at most three
    lacks: Sequence[str] = ()  # what other layouts have, at most three


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision of the algorithm that may be wrong: two sets of pages it joined or kept apart."""

    left: Sequence[int]  # indices of the pages, the most typical first
    right: Sequence[int]
    probability: float  # that one template made both
    is_joined: bool
    why: Sequence[str] = ()  # what speaks for it and against it, a sentence each


@dataclass(frozen=True, slots=True)
class Group:
    """Pages that belong together."""

    name: str  # unique in the grouping, the same for the same pages in any order
    members: Sequence[int]  # indices of the pages, ascending
    importance: float = 0.0
    why: str = ""  # one sentence
    layouts: Sequence[GroupLayout] = ()  # the largest first; none where all pages look alike


@dataclass(frozen=True, slots=True)
class Grouping:
    """The clusters of a site's pages, largest first."""

    groups: Sequence[Group]
    unassigned: Sequence[int] = ()
    why: str = ""  # on what evidence it was decided, in one sentence
    model: Model = field(default_factory=dict)
    doubts: Sequence[Doubt] = ()  # those most worth a look first

    def labels(self, n_pages: int) -> list[str | None]:
        """Return the group's name for each page, None for a page in no group."""
        names: list[str | None] = [None] * n_pages
        for group in self.groups:
            for member in group.members:
                names[member] = group.name
        return names


class Placed(NamedTuple):
    """Where a later page belongs."""

    group: str | None
    layout: str | None = None  # None where the group has only one


NOWHERE = Placed(None)


@dataclass(frozen=True, slots=True)
class Clusterer:
    """An algorithm as it stands in the table of clusterers."""

    name: str
    title: str
    # None: pages are grouped by the links to them, and are not read.
    observe: Callable[[RawPage], Observation] | None
    cluster_pages: Callable[[Sequence[str], Sequence[Observation], ClusteringInputs], Grouping]
    # Returns the group of a later page, given with its URL; without `observe`, the second argument
    # is the XPath of the first link to the page, None where no link is known.
    assign: Callable[[Model, Observation, str], str | None]
    needs: frozenset[str] = frozenset()  # "links", "clicks"
    max_pages: int | None = None  # where the algorithm is quadratic
    sentence: str = ""  # what a variant does; the others have the first sentence of their card
    # Returns the group of a later page by what it looks like, where its links do not tell.
    assign_page: Callable[[Model, RawPage], str | None] | None = None
    # Returns the group of a later page by its bytes, None where they do not decide.
    assign_bytes: Callable[[Model, bytes], str | None] | None = None
    # Returns the group of a later page with its layout, for an algorithm that tells layouts apart.
    place_in_layout: Callable[[Model, Observation, str], Placed] | None = None
    # A group's name is the masked signature that made the group, v' of Algorithm 1.
    names_are_signatures: bool = False
    parameters: Sequence[Parameter] = ()

    def values(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Return each parameter's value, the default where none is given. Raises BadParameter."""
        return read_values(self.name, self.parameters, given)

    def with_values(self, given: Mapping[str, object]) -> Clusterer:
        """Return the algorithm with these values for its parameters. Raises BadParameter."""
        values = self.values(given)
        observed_names = {parameter.name for parameter in self.parameters if parameter.is_observed}
        observed = {name: value for name, value in values.items() if name in observed_names}
        grouped = {name: value for name, value in values.items() if name not in observed_names}
        observe = self.observe
        if observe is not None and observed:
            observe = partial(observe, **observed)
        is_observed_by_default = all(
            values[parameter.name] == parameter.default
            for parameter in self.parameters
            if parameter.is_observed
        )
        return replace(
            self,
            observe=observe,
            cluster_pages=partial(self.cluster_pages, **grouped),
            # Rules and checks compare signatures of the default.
            names_are_signatures=self.names_are_signatures and is_observed_by_default,
        )

    @property
    def goes_by_links(self) -> bool:
        """Return whether links to a page decide, so that it should bring its inbound XPath."""
        return self.observe is None

    def place(self, model: Model, observation: Observation, url: str) -> Placed:
        """Return the group of a later page, and its layout if the algorithm tells layouts apart."""
        if self.place_in_layout is not None:
            return self.place_in_layout(model, observation, url)
        return Placed(self.assign(model, observation, url))

    def find_group(self, model: Model, page: RawPage) -> str | None:
        """Return the group of a later page: by its links where these decide, else by the page.

        No tree is built where the bytes decide.
        """
        if self.assign_bytes is not None:
            group = self.assign_bytes(model, page.body)
            if group is not None:
                return group
        if self.observe is not None:
            return self.assign(model, self.observe(page), page.url)
        group = self.assign(model, page.inbound_xpath or None, page.url)
        if group is None and self.assign_page is not None:
            group = self.assign_page(model, page)
        return group


def group_key(group: str) -> str:
    """Return a group's name as it is stored and looked up: if too long, it ends with its hash."""
    name = storable(group)
    if len(name) <= MAX_GROUP_CHARS:
        return name
    return f"{name[: MAX_GROUP_CHARS - 17]} {xxhash.xxh64_hexdigest(name.encode())}"


def grouping_of(
    label_by_page: Sequence[str | None],
    *,
    why: str = "",
    whys: Mapping[str, str] | None = None,
    importance: Mapping[str, float] | None = None,
    layouts: Mapping[str, Sequence[GroupLayout]] | None = None,
    model: Model | None = None,
    doubts: Sequence[Doubt] = (),
) -> Grouping:
    """Build a Grouping from a label for each page, largest group first."""
    members: dict[str, list[int]] = {}
    for page, label in enumerate(label_by_page):
        if label is not None:
            members.setdefault(label, []).append(page)
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    groups = [
        Group(
            name,
            members=tuple(pages),
            importance=(importance or {}).get(name, float(len(pages))),
            why=(whys or {}).get(name, ""),
            layouts=(layouts or {}).get(name, ()),
        )
        for name, pages in ordered
    ]
    unassigned = tuple(page for page, label in enumerate(label_by_page) if label is None)
    return Grouping(groups, unassigned, why, model or {}, doubts)
