"""Tell a page that is there from what stands in its place: an outage, a wall, other content.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B, names "frames not fetched correctly" among the false positives and has no class
            for them.
Notation:   The own texts of a page are stored values and texts that few other pages show. A page is
            seen where half of them stand anywhere on it, or where all stored values among them do
            and the page is not much shorter: what a site recommends beside its things, and what
            people say of them, is another text each time. Otherwise it is lost.
Readings:   None.
Departures: Content survives a redesign and not an outage, so a page that is lost is no evidence of
            a redesign, in whatever language it speaks. What stands in the title is no own text:
            walls keep titles. A lost page is down where it is like lost pages of other addresses
            and was not before, asks for a password and did not, is a shell of those before, or was
            redirected to where others were. Any other lost page shows other content.
Cost:       Each lost page is compared with at most MAX_LEADERS others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from monitoring.algorithms import soft_errors
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.page_looks import PageLook, likeness

MIN_OWN_TEXTS: Final = 2  # values of a page; with fewer its other texts are taken
MAX_OWN_TEXTS: Final = 40
MIN_CHARS: Final = 4  # of an own text
MIN_DENSE_CHARS: Final = 2  # of one in a script that writes words in few characters
MAX_SHARING_PAGES: Final = 2  # that show an own text
MAX_SHARING_SHARE: Final = 0.05  # of all pages, where those are more
MIN_SHARE_SEEN: Final = 0.5  # of the own texts
MIN_LENGTH_SEEN: Final = 0.5  # of the text that stood there before, beside its own values
MIN_LIKENESS: Final = 0.85  # of the words of pages that are one answer
MAX_LEADERS: Final = 60
MAX_LENGTH_OF_SHELL: Final = 0.3  # of the text that stood there before
MIN_FORM_OF_SHELLS: Final = 0.8  # likeness of the forms of two shells
MAX_FORM_BEFORE: Final = 0.6  # likeness of the forms of their pages before
MIN_SHARED_TARGET: Final = 2  # addresses that were redirected to one place
MIN_FORM_OF_LIST: Final = 0.8  # likeness of a list's form to that of before: its entries moved
FIRST_DENSE_LETTER: Final = "\u2e80"  # scripts from here on are Chinese, Japanese, Korean

REDIRECTED: Final = "redirected"
SHELL: Final = "empty_shell"
OTHER_CONTENT: Final = "other_content"


class PageBefore(NamedTuple):
    """A page as it was: its stored constant values, and how it looked."""

    values: Sequence[str]
    look: PageLook
    is_list: bool = False


class Answered(NamedTuple):
    """A page as it is now."""

    look: PageLook
    redirected_to: str = ""  # another address


def own_texts(pages: Mapping[str, PageBefore]) -> dict[str, tuple[str, ...]]:
    """Return the own texts of each page, by address; none where it has too few."""
    limit = max(MAX_SHARING_PAGES, MAX_SHARING_SHARE * len(pages))
    n_by_text = Counter(text for page in pages.values() for text in set(page.look.texts))
    all_shown = [page.look.shown for page in pages.values()]
    own = {}
    for url, page in pages.items():
        values = [plain(value) for value in page.values]
        mine = [
            value
            for value in _telling(values, page.look)
            if sum(value in shown for shown in all_shown) <= limit
        ]
        if len(mine) < MIN_OWN_TEXTS:
            mine = [
                text for text in _telling(page.look.texts, page.look) if n_by_text[text] <= limit
            ]
        own[url] = tuple(mine[:MAX_OWN_TEXTS]) if len(mine) >= MIN_OWN_TEXTS else ()
    return own


def _telling(texts: Iterable[str], look: PageLook) -> list[str]:
    """Return the texts that tell a page: long, in its body, no part of another or of its title."""
    shown = {text for text in texts if is_long(text) and text in look.shown}
    return [
        text
        for text in sorted(shown, key=lambda text: (-len(text), text))[: 2 * MAX_OWN_TEXTS]
        if text not in look.title and not any(text != other and text in other for other in shown)
    ]


def is_long(text: str) -> bool:
    """Return whether a text is long enough to tell a page from others."""
    is_dense = any(letter >= FIRST_DENSE_LETTER for letter in text)
    return len(text) >= (MIN_DENSE_CHARS if is_dense else MIN_CHARS)


def is_seen(own: Sequence[str], old: PageBefore, new: PageLook) -> bool | None:
    """Return whether a page still shows its own texts; None where nothing tells it from others."""
    if not own:
        return None
    n_standing = sum(text in new.shown for text in own)
    if n_standing >= MIN_SHARE_SEEN * len(own):
        return True
    own_values = set(map(plain, old.values)).intersection(own)
    if own_values and all(value in new.shown for value in own_values):
        is_asked_to_log_in = new.has_password and not old.look.has_password
        if not is_asked_to_log_in and new.n_chars >= MIN_LENGTH_SEEN * old.look.n_chars:
            return True
    return old.is_list and likeness(old.look.form, new.form) >= MIN_FORM_OF_LIST


def why_lost(old: Mapping[str, PageBefore], lost: Mapping[str, Answered]) -> dict[str, str]:
    """Return for each lost page what stands in its place."""
    targets = Counter(page.redirected_to for page in lost.values() if page.redirected_to)
    alike = _one_answer(old, lost)
    shells = _shells(old, lost)
    why = {}
    for url, page in lost.items():
        if targets[page.redirected_to] >= MIN_SHARED_TARGET:
            why[url] = REDIRECTED
        elif page.look.has_password and not old[url].look.has_password:
            why[url] = soft_errors.LOGIN_WALL
        elif url in alike:
            why[url] = soft_errors.SHARED_ANSWER
        elif url in shells:
            why[url] = SHELL
        else:
            why[url] = OTHER_CONTENT
    return why


def _one_answer(old: Mapping[str, PageBefore], lost: Mapping[str, Answered]) -> set[str]:
    """Return the pages whose words are those of other addresses, and were not before."""
    members_by_leader: defaultdict[str, list[str]] = defaultdict(list)
    for url, page in lost.items():
        leader = next(
            (
                known
                for known in members_by_leader
                if likeness(page.look.words, lost[known].look.words) >= MIN_LIKENESS
            ),
            None,
        )
        if leader is not None:
            members_by_leader[leader].append(url)
        elif len(members_by_leader) < MAX_LEADERS:
            members_by_leader[url] = [url]
    return _grouped_anew(old, members_by_leader.values(), "words", MIN_LIKENESS)


def _shells(old: Mapping[str, PageBefore], lost: Mapping[str, Answered]) -> set[str]:
    """Return the pages that show little of what they showed, in one form where they had several."""
    members_by_leader: defaultdict[str, list[str]] = defaultdict(list)
    for url, page in lost.items():
        if page.look.n_chars >= MAX_LENGTH_OF_SHELL * old[url].look.n_chars:
            continue
        leader = next(
            (
                known
                for known in members_by_leader
                if likeness(page.look.form, lost[known].look.form) > MIN_FORM_OF_SHELLS
            ),
            None,
        )
        if leader is not None:
            members_by_leader[leader].append(url)
        elif len(members_by_leader) < MAX_LEADERS:
            members_by_leader[url] = [url]
    return _grouped_anew(old, members_by_leader.values(), "form", MAX_FORM_BEFORE)


def _grouped_anew(
    old: Mapping[str, PageBefore], groups: Collection[list[str]], part: str, limit: float
) -> set[str]:
    """Return the pages of the groups that look alike now and did not before.

    A group of one page is none; each other page is compared with the first, by one part of
    its old look.
    """
    grouped: set[str] = set()
    for urls in groups:
        looks = [getattr(old[url].look, part) for url in urls]
        if len(urls) > 1 and any(likeness(looks[0], look) < limit for look in looks[1:]):
            grouped.update(urls)
    return grouped
