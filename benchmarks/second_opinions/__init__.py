"""What other sites of the vertical say of rules from annotations, and how often these are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from annotation.algorithms.fields.drafting import FieldDraft
from annotation.algorithms.fields.recognising import MAX_PAGES, recognise_fields
from annotation.algorithms.fields.second_opinions import second_opinions
from benchmarks.report import markdown_table
from benchmarks.unseen_sites import Site
from benchmarks.unseen_sites import swde_sites as labelled_sites
from benchmarks.verticals.known_sites import KnownSite, Verticals, know
from benchmarks.verticals.swde import page_f1, swde_sites
from benchmarks.verticals.training import train

TITLE = "Second opinions"
KS: Final = (1, 2)  # annotated pages
RIGHT_F1: Final = 0.95  # over pages, of a rule that is right
AGREE, DIFFER, SILENT = "they agree", "they would take another text", "they are not certain"
OTHER_RULE: Final = "the rule of another attribute in its place"

INTRODUCTION: Final = (
    "Each site of SWDE, all pages one cluster, with rules learnt from its first one and two "
    "samples. The other "
    "sites of its vertical are asked, with weights and certainty trained on the other verticals, "
    "on the first "
    f"{MAX_PAGES} pages. A rule is right where its F1 over the pages is at least {RIGHT_F1}. "
    "As a control each "
    "attribute of which they are certain is asked again with the values of another "
    "attribute's rule.\n\n"
)

Found = Mapping[str, Mapping[str, Sequence[str]]]  # by page and attribute


class Asked(NamedTuple):
    """What other sites say of the rule of an attribute."""

    rule: tuple[str, str, int]  # site, attribute, annotated pages
    answer: str
    is_right: bool
    is_swap_seen: (
        bool | None
    )  # that they would take another text where another rule is in its place


def run(data: Path | None) -> str:
    """Return how often rules are right by what other sites say of them, as a Markdown section."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    verticals = Verticals(know(site) for site in swde_sites(data / "swde"))
    names = list(verticals.sites)
    answers: list[Asked] = []
    for name in names:
        weights = train(verticals, [other for other in names if other != name])
        for known_site in verticals.sites[name]:
            known = verticals.known(name, verticals.others(known_site))
            drafts = recognise_fields(list(known_site.site.trees.values()), known, weights)
            (labelled,) = labelled_sites(data / "swde", [known_site.site.name])
            answers += _ask(known_site, labelled, drafts)
    return INTRODUCTION + report(answers)


def _ask(known_site: KnownSite, labelled: Site, drafts: Sequence[FieldDraft]) -> Iterator[Asked]:
    pages = tuple(labelled.pages.trees)
    for k in KS:
        rule = labelled.learn(pages, k, "default")
        values_by_page = {
            page: {name: sorted(values) for name, values in labelled.values(rule, page).items()}
            for page in pages
        }
        own = [values_by_page[page] for page in known_site.site.trees]
        agrees = {opinion.draft.field: opinion.agrees for opinion in second_opinions(drafts, own)}
        for number, name in enumerate(labelled.pages.attributes):
            answer = SILENT
            is_swap_seen = None
            if name in agrees:
                answer = AGREE if agrees[name] else DIFFER
                other = labelled.pages.attributes[number - 1]
                swapped = [{name: page.get(other, ())} for page in own]
                draft = next(draft for draft in drafts if draft.field == name)
                (opinion,) = second_opinions([draft], swapped)
                is_swap_seen = not opinion.agrees
            not_scored = labelled.samples(pages)[: max(KS)]
            is_right = _f1(labelled, values_by_page, name, not_scored) >= RIGHT_F1
            yield Asked((labelled.pages.name, name, k), answer, is_right, is_swap_seen)


def _f1(site: Site, found: Found, name: str, not_scored: Sequence[str]) -> float:
    scored = [page for page in found if page not in not_scored]
    return page_f1(
        [site.pages.truth[page].get(name, []) for page in scored],
        [found[page].get(name, []) for page in scored],
        is_multi=name in site.pages.multi,
    )


def report(asked: Sequence[Asked]) -> str:
    """Return the answers with how many rules are right, and which rules other sites object to."""
    n_by_answer = Counter(row.answer for row in asked)
    n_right = Counter(row.answer for row in asked if row.is_right)
    rows = [
        [
            answer,
            n_by_answer[answer],
            n_right[answer],
            f"{n_right[answer] / n_by_answer[answer]:.3f}",
        ]
        for answer in (AGREE, DIFFER, SILENT)
        if n_by_answer[answer]
    ]
    swaps = [row.is_swap_seen for row in asked if row.is_swap_seen is not None]
    differing = [
        f"{site} {name}, k = {k} ({'right' if row.is_right else 'wrong'})"
        for row in asked
        if row.answer == DIFFER
        for site, name, k in [row.rule]
    ]
    table = markdown_table(["other sites", "rules", "right", "share"], rows)
    return (
        f"{table}\n\nWith {OTHER_RULE} they would take another text for {sum(swaps)} "
        f"of {len(swaps)}."
        f"\n\nThey would take another text for: {'; '.join(differing) or 'none'}."
    )
