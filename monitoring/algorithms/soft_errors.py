"""Recognise errors, walls and empty answers that look like pages.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B, names "frames not fetched correctly" among the false positives and has no class
            for them.
Notation:   `known` are texts that the page showed before: its golden constant values.
Readings:   None.
Departures: A page that still shows half of its known values is there, whatever else it says: a
            redesign is never taken for an error. The words of errors and walls count only in the
            title, the headings, or on a short page. They name what other signs find (`lost_pages`);
            where a page has few texts of its own they decide alone.
Cost:       One walk over the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
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

MIN_ERROR_STATUS: Final = 400
MIN_SERVER_ERROR_STATUS: Final = 500
CHALLENGE_STATUSES: Final = frozenset({403, 429, 503})  # with which captchas come
MAX_MESSAGE_CHARS: Final = 1500  # of a page that may be nothing but a message
MIN_PAGE_CHARS: Final = 40
MIN_SHARE_STILL_SHOWN: Final = 0.5  # of the known values
MAX_LENGTH_OF_CUT: Final = 0.7  # of the old text, for a page without its end to count as cut off
N_BYTES_OF_END: Final = 4096
MAX_HEADING_CHARS: Final = 300
MAX_HEADINGS: Final = 6

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
    r"anmelden|einloggen|connexion|se connecter|identifiez-vous|iniciar sesi[oó]n|accedi|inloggen|"
    r"entrar|iniciar sess[aã]o|logga in|logg inn|log ind|kirjaudu|logi sisse|zaloguj|přihlásit|"
    r"prihlásiť|bejelentkezés|autentificare|prijava|giriş yap|đăng nhập|masuk|войти|вход|увійти|"
    r"σύνδεση)\b|登录|登入|登錄|ログイン|로그인|تسجيل الدخول|כניסה|เข้าสู่ระบบ|लॉग इन",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"before you continue|we value your privacy|cookie (consent|settings|preferences|policy)|"
    r"accept (all )?cookies|consent to|your privacy choices|cookies akzeptieren|"
    r"zustimmen und weiter|accepter (les|tous) .{0,12}cookies|aceptar (todas las )?cookies|"
    r"accetta (tutti i )?cookie|alle cookies accepteren|zgod[aę] na|akceptuj|souhlas|cookieの使用|"
    r"同意する|接受.{0,6}cookie|verify your age|age verification",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"\b404\b|\b410\b|not found|page (you .{0,40})?(does not|doesn.t|no longer) exist|"
    r"no longer (available|exists|here)|"
    r"page (is )?(missing|gone|unavailable)|can.t be found|could not be found|couldn.t find|"
    r"nothing here|nicht gefunden|existiert nicht|introuvable|n.existe (pas|plus)|no encontrad[ao]|"
    r"non trovat[ao]|niet gevonden|nie znaleziono|não encontrad[ao]|has been (removed|deleted)|"
    r"has moved|wrong turn",
    re.IGNORECASE,
)
_MAINTENANCE = re.compile(
    r"(under|scheduled|down for) maintenance|be (right )?back soon|"
    r"temporarily (unavailable|offline|down)|service unavailable|internal server error|"
    r"something went wrong|bad gateway|try again later|wartungsarbeiten|en maintenance|"
    r"mantenimiento|manuten[cç][aã]o|manutenzione|onderhoud|underhåll|vedligeholdelse|huoltokatko|"
    r"przerwa techniczna|údržba|karbantartás|bak\u0131m|технические работы|техобслуживани|"
    r"メンテナンス|维护|維護|점검|database error|coming soon",
    re.IGNORECASE,
)
_END = re.compile(rb"</(html|body)\s*>", re.IGNORECASE)
_MARKS = re.compile(
    rb"g-recaptcha|h-captcha|hcaptcha\.com|cf-challenge|px-captcha|_cf_chl|geo\.captcha",
    re.IGNORECASE,
)


class Answer(NamedTuple):
    """What came back for an address."""

    status: int
    body: bytes
    tree: HtmlElement | None
    problem: str = ""  # of parsing: truncated, empty


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

    `old_length` is how many characters the page showed before; `old_was_ended` whether its bytes
    ended.
    """
    if answer.status in CHALLENGE_STATUSES and _MARKS.search(answer.body):
        return CAPTCHA
    if answer.status >= MIN_ERROR_STATUS:
        return of_status(answer.status)
    if answer.tree is None or answer.problem == EMPTY:
        return EMPTY
    shown = read_shown(answer.tree)
    share = share_shown(shown.text, known)
    if _is_truncated(answer, shown, share, old_length, old_was_ended=old_was_ended):
        return TRUNCATED
    if share is not None and share >= MIN_SHARE_STILL_SHOWN:
        return ""
    message = _message(answer, shown, is_lost=share == 0.0)
    if not message and len(shown.text) < MIN_PAGE_CHARS:
        return EMPTY
    return message


def of_status(status: int) -> str:
    """Return the word for a status of an error.

    >>> [of_status(status) for status in (403, 404, 418, 503)]
    ['forbidden', 'not_found', 'error_status', 'server_error']
    """
    if status >= MIN_SERVER_ERROR_STATUS:
        return SERVER_ERROR
    return _KIND_BY_STATUS.get(status, ERROR_STATUS)


def _is_truncated(
    answer: Answer,
    shown: PageText,
    share: float | None,
    old_length: int | None,
    *,
    old_was_ended: bool,
) -> bool:
    """Return whether the answer breaks off: its end is missing and much of what it showed."""
    if answer.problem == TRUNCATED:
        return True
    if not old_was_ended or old_length is None or _END.search(answer.body[-N_BYTES_OF_END:]):
        return False
    return len(shown.text) < MAX_LENGTH_OF_CUT * old_length and share != 1.0


def _message(answer: Answer, shown: PageText, *, is_lost: bool) -> str:
    """Return which message a page is; blank where it is none."""
    is_short = len(shown.text) <= MAX_MESSAGE_CHARS
    message = f"{shown.heading}\n{shown.text}" if is_short else shown.heading
    if _CAPTCHA.search(message) or (is_short and _MARKS.search(answer.body)):
        return CAPTCHA
    if _NOT_FOUND.search(message):
        return SOFT_404
    if _MAINTENANCE.search(message):
        return MAINTENANCE
    if shown.has_password and (is_short or (is_lost and _LOGIN.search(shown.heading))):
        return LOGIN_WALL
    if _LOGIN.search(shown.heading) and is_lost:
        return LOGIN_WALL
    return CONSENT_WALL if _CONSENT.search(message) else ""


def read_shown(tree: HtmlElement) -> PageText:
    """Return what a page shows."""
    texts = read_texts(tree)
    body = " ".join(texts.text_of(node) for node in texts.nodes if not node.is_in_head)
    headings = []
    for element in islice(tree.iter("title", "h1", "h2"), MAX_HEADINGS):
        words = "".join(map(str, element.itertext())).split()
        headings.append(" ".join(words)[:MAX_HEADING_CHARS])
    return PageText(body, "\n".join(headings), has_password(tree))


def has_password(tree: HtmlElement) -> bool:
    """Return whether the page asks for a password."""
    return any((field.get("type") or "").lower() == "password" for field in tree.iter("input"))


def share_shown(text: str, known: Iterable[str]) -> float | None:
    """Return the share of known values that a text shows; None where none is known."""
    shown = plain(text)
    forms = {plain(value) for value in known}
    long_enough = [form for form in forms if len(form) > 1]
    if not long_enough:
        return None
    return sum(form in shown for form in long_enough) / len(long_enough)


def was_ended(body: bytes) -> bool:
    """Return whether the bytes of a page have its end."""
    return _END.search(body[-N_BYTES_OF_END:]) is not None
