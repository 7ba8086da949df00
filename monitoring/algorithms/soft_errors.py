"""Tell a page that is there from errors, walls and empty answers that look like pages.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section IV-B, names
            "frames not fetched correctly" among the false positives and has no class for them.
Notation:   `known` are texts that the page showed before: its golden constant values.
Readings:   None.
Departures: A page that still shows half of its known values is there, whatever else it says: a redesign is
            never taken for an error. The words of errors and walls count only in the title, the headings, or
            on a short page. An answer that many addresses share and that the pages did not share before is an
            error page in any language.
Cost:       One walk over the page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lxml.html import HtmlElement

from annotation.algorithms.anchors.page_texts import read_texts
from monitoring.algorithms.known_values import plain

MISSING: Final = "missing"  # not in the source, or the host does not answer
ERROR_STATUS: Final = "error_status"
SERVER_ERROR: Final = "server_error"  # 5xx
FORBIDDEN: Final = "forbidden"  # 401, 403, 407 and 451
NOT_FOUND: Final = "not_found"  # 404 and 410
TOO_MANY: Final = "too_many_requests"
CAPTCHA: Final = "captcha"
LOGIN_WALL: Final = "login_wall"
CONSENT_WALL: Final = "consent_wall"
SOFT_404: Final = "soft_404"
MAINTENANCE: Final = "maintenance"
EMPTY: Final = "empty"
TRUNCATED: Final = "truncated"
SHARED_ANSWER: Final = "shared_answer"

FIRST_ERROR: Final = 400  # status
FIRST_SERVER_ERROR: Final = 500
CHALLENGES: Final = frozenset({403, 429, 503})  # with which captchas come
SHORT: Final = 1500  # characters of a page that may be nothing but a message
VERY_SHORT: Final = 40
N_SHARED: Final = 2  # addresses with one answer
STILL_THERE: Final = 0.5  # share of the known values

_KIND_BY_STATUS: Final = {
    **dict.fromkeys((401, 403, 407, 451), FORBIDDEN),
    **dict.fromkeys((404, 410), NOT_FOUND),
    429: TOO_MANY,
}
_CAPTCHA = re.compile(
    r"captcha|are you (a )?(human|robot)|verify (that )?you are (a )?human|unusual traffic|"
    r"checking your browser|not a robot|access denied|automated (access|queries|requests)|"
    r"attention required|just a moment|bist du ein mensch|êtes-vous un robot|no soy un robot|"
    r"enable javascript and cookies|request (was )?blocked|too many requests|security check",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"\b(log[ -]?in|sign[ -]?in|log on|please register|members only|subscribe to (read|continue)|"
    r"anmelden|einloggen|connexion|se connecter|identifiez-vous|iniciar sesi[oó]n|accedi|inloggen)\b",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"before you continue|we value your privacy|cookie (consent|settings|preferences|policy)|"
    r"accept (all )?cookies|consent to|your privacy choices|cookies akzeptieren|zustimmen und weiter|"
    r"accepter (les|tous) .{0,12}cookies|"
    r"verify your age|age verification",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"\b404\b|\b410\b|not found|page (you .{0,40})?(does not|doesn.t|no longer) exist|"
    r"no longer (available|exists|here)|"
    r"page (is )?(missing|gone|unavailable)|can.t be found|could not be found|couldn.t find|nothing here|"
    r"nicht gefunden|existiert nicht|introuvable|n.existe (pas|plus)|no encontrad[ao]|non trovat[ao]|"
    r"niet gevonden|nie znaleziono|não encontrad[ao]|has been (removed|deleted)|has moved|wrong turn",
    re.IGNORECASE,
)
_MAINTENANCE = re.compile(
    r"(under|scheduled|down for) maintenance|be (right )?back soon|temporarily (unavailable|offline|down)|"
    r"service unavailable|internal server error|something went wrong|bad gateway|try again later|"
    r"wartungsarbeiten|en maintenance|mantenimiento|database error|coming soon",
    re.IGNORECASE,
)
_END = re.compile(rb"</(html|body)\s*>", re.IGNORECASE)
_MARKS = re.compile(
    rb"g-recaptcha|h-captcha|hcaptcha\.com|cf-challenge|px-captcha|_cf_chl|geo\.captcha",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")


class Answer(NamedTuple):
    """What came back for an address."""

    status: int
    body: bytes
    tree: HtmlElement | None
    problem: str = ""  # what the parser says: truncated, empty


class PageText(NamedTuple):
    """What a page shows, as far as triage needs it."""

    text: str
    heading: str  # title and headings
    has_password: bool


def triage(
    answer: Answer,
    known: Iterable[str] = (),
    *,
    old_length: int | None = None,
    old_was_ended: bool = True,
) -> str:
    """Return why a page is no evidence of anything, blank where it is there.

    `old_length` is how many characters the page showed before; `old_was_ended` whether its bytes ended.
    """
    if answer.status >= FIRST_ERROR:
        return (
            CAPTCHA
            if answer.status in CHALLENGES and _MARKS.search(answer.body)
            else of_status(answer.status)
        )
    if answer.tree is None or answer.problem == EMPTY:
        return EMPTY
    shown = read_shown(answer.tree)
    share = share_shown(shown.text, known)
    if _is_cut(answer, shown, share, old_length, old_was_ended=old_was_ended):
        return TRUNCATED
    if share is not None and share >= STILL_THERE:
        return ""
    return _message(answer, shown, is_lost=share == 0.0) or (
        EMPTY if len(shown.text) < VERY_SHORT else ""
    )


def of_status(status: int) -> str:
    """Return what an error's status says.

    >>> [of_status(status) for status in (403, 404, 418, 503)]
    ['forbidden', 'not_found', 'error_status', 'server_error']
    """
    if status >= FIRST_SERVER_ERROR:
        return SERVER_ERROR
    return _KIND_BY_STATUS.get(status, ERROR_STATUS)


def _is_cut(
    answer: Answer,
    shown: PageText,
    share: float | None,
    old_length: int | None,
    *,
    old_was_ended: bool,
) -> bool:
    """Say whether the answer breaks off: its end is missing, and a good part of what it showed before."""
    if answer.problem == TRUNCATED:
        return True
    if not old_was_ended or old_length is None or _END.search(answer.body[-4096:]):
        return False
    return len(shown.text) < 0.7 * old_length and share != 1.0


def _message(answer: Answer, shown: PageText, *, is_lost: bool) -> str:
    """Return which message a page is, if it is nothing else."""
    is_short = len(shown.text) <= SHORT
    told = shown.heading + ("\n" + shown.text if is_short else "")
    if _CAPTCHA.search(told) or (is_short and _MARKS.search(answer.body)):
        return CAPTCHA
    if _NOT_FOUND.search(told):
        return SOFT_404
    if _MAINTENANCE.search(told):
        return MAINTENANCE
    if shown.has_password and (is_short or (is_lost and _LOGIN.search(shown.heading))):
        return LOGIN_WALL
    if _LOGIN.search(shown.heading) and is_lost:
        return LOGIN_WALL
    return CONSENT_WALL if _CONSENT.search(told) else ""


def read_shown(tree: HtmlElement) -> PageText:
    """Return what a page shows."""
    texts = read_texts(tree)
    body = " ".join(texts.text_of(node) for node in texts.nodes if not node.is_in_head)
    headings = [
        " ".join("".join(map(str, element.itertext())).split())[:300]
        for element in tree.iter("title", "h1", "h2")
    ][:6]
    return PageText(body, "\n".join(headings), has_password(tree))


def has_password(tree: HtmlElement) -> bool:
    """Say whether the page asks for a password."""
    return any((field.get("type") or "").lower() == "password" for field in tree.iter("input"))


def share_shown(text: str, known: Iterable[str]) -> float | None:
    """Return the share of known values that a text shows; None where none is known."""
    whole = plain(text)
    wanted = {form for value in known if len(form := plain(value)) > 1}
    return sum(form in whole for form in wanted) / len(wanted) if wanted else None


def was_ended(body: bytes) -> bool:
    """Say whether the bytes of a page have its end."""
    return _END.search(body[-4096:]) is not None


def shared_answers(new: Mapping[str, str], old: Mapping[str, str]) -> set[str]:
    """Return the addresses that answer with one and the same text, and did not before.

    Texts that differ in digits only are the same, where those of before differed in more.
    """
    exact = _shared(
        {url: plain(text) for url, text in new.items()}, {u: plain(t) for u, t in old.items()}
    )
    return exact | _shared(
        {url: _DIGITS.sub("0", plain(text)) for url, text in new.items()},
        {url: _DIGITS.sub("0", plain(text)) for url, text in old.items()},
    )


def _shared(new: Mapping[str, str], old: Mapping[str, str]) -> set[str]:
    by_text: defaultdict[str, list[str]] = defaultdict(list)
    for url, text in new.items():
        by_text[text].append(url)
    shared: set[str] = set()
    for urls in by_text.values():
        n_before = len({old[url] for url in urls if url in old})
        if len(urls) >= N_SHARED and n_before > len(urls) / 2:
            shared.update(urls)
    return shared
