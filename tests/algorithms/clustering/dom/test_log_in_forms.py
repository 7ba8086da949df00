"""A form is filled in as a browser would send it."""

from __future__ import annotations

import pytest
from lxml.html import HtmlElement

from clustering.dom.log_in_forms import MAX_FORMS, fill_form, leads_out, shows_sign
from clustering.dom.page import parse_page

URL = "https://a.example/in/form"
VALUES = {"user": "ada", "password": "s3cret"}
INPUTS = "<input name=user value=old><input type=password name=password>"


def tree_of(body: str) -> HtmlElement:
    tree = parse_page(body.encode()).tree
    assert tree is not None
    return tree


def test_what_the_form_holds_is_sent_as_it_stands_and_the_given_fields_filled_in() -> None:
    filled = fill_form(
        tree_of(
            f"<form action=/enter method=POST>{INPUTS}<input type=hidden name=csrf value=t1>"
            "<input type=checkbox name=stay checked><input type=checkbox name=news value=yes>"
            "<select name=lang><option value=en><option value=de selected></select>"
            "<select name=zone><option>UTC</select><select name=none></select>"
            "<textarea name=note>hello</textarea><input type=file name=file><input "
            "name=off disabled>"
            "<button name=go value=in>Log in</button><button name=help value=1>Help</button></form>"
        ),
        URL,
        VALUES,
    )

    assert filled is not None
    assert (filled.action, filled.base, filled.method) == ("/enter", URL, "post")
    assert filled.fields == [
        ("csrf", "t1"),
        ("stay", "on"),
        ("lang", "de"),
        ("zone", "UTC"),
        ("none", ""),
        ("note", "hello"),
        ("go", "in"),
        ("user", "ada"),
        ("password", "s3cret"),
    ]


def test_the_form_with_all_the_fields_is_the_one() -> None:
    tree = tree_of(
        f"<form action=/search><input name=user></form><form action=/enter>{INPUTS}"
        "<input type=checkbox name=stay></form>"
    )

    assert getattr(fill_form(tree, URL, VALUES), "action", None) == "/enter"
    assert getattr(fill_form(tree, URL, VALUES | {"stay": "1"}), "action", None) == "/enter"
    assert getattr(fill_form(tree, URL, VALUES), "method", None) == "get"
    assert fill_form(tree, URL, VALUES | {"pin": "1"}) is None


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("<base href=/members/>", "https://a.example/members/"),
        ("<base href=//b.example/x>", "https://b.example/x"),
        ("<base target=_top>", URL),
        ("<base href=javascript:x>", URL),
    ],
)
def test_the_action_is_relative_to_the_base_of_the_page(head: str, base: str) -> None:
    filled = fill_form(tree_of(f"{head}<form action=enter>{INPUTS}</form>"), URL, VALUES)

    assert filled is not None
    assert (filled.action, filled.base) == ("enter", base)


def test_a_page_of_forms_is_not_searched_for_ever() -> None:
    forms = "<form><input name=x></form>" * MAX_FORMS
    assert fill_form(tree_of(f"{forms}<form>{INPUTS}</form>"), URL, VALUES) is None


@pytest.mark.parametrize(
    ("body", "is_shown"),
    [
        ("<p>Log <b>out</b></p>", True),
        ("<p>Log\n   out</p>", True),
        ("<script>t = 'Log out'</script><p>Log in</p>", False),
        ("<style>Log out</style>", False),
        ("<noscript>Log out</noscript><p>Log in", False),
        ("<!-- Log out --><p>Log in", False),
        ("<a title='Log out'>in</a>", False),
    ],
)
def test_a_text_counts_where_a_reader_sees_it(body: str, *, is_shown: bool) -> None:
    assert shows_sign(tree_of(body), "Log out") == is_shown


@pytest.mark.parametrize(
    "url", ["https://a.example/blog/logo-output", "https://a.example/blogout", "https://a.example/"]
)
def test_what_does_not_end_a_session_is_followed(url: str) -> None:
    assert not leads_out(url)
    assert leads_out(f"{url}?action=logoff")
