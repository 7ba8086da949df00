"""Remarks at the nodes of a page: written, settled, opened again."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.models import Comment
from annotation.services.annotations.commenting import (
    MAX_COMMENT_CHARS,
    add_comment,
    element_numbers,
    resolve_comment,
)
from clustering.models import Page
from tests.apps.annotation.cast import product_page, shop
from vertex.core.models import AuditEntry, Role
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
HEADERS = {"HX-Request": "true"}


@pytest.fixture
def page() -> Page:
    return product_page(shop(), "p1")


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(people.create_user(username=role.value, role=role, site=None, actor=None))
    return client


def address(page: Page) -> str:
    return reverse("page_comments", args=["shop", page.pk])


class TestAdding:
    def test_at_a_node_keeps_its_whole_path(self, page: Page) -> None:
        comment = add_comment(page=page, text="  is it with tax? ", xpath="//b", attribute="price")

        assert ("is it with tax?", "/html/body/p/b") == (comment.text, comment.xpath)
        assert comment.attribute is not None
        assert ("price", page.latest_snapshot) == (comment.attribute.name, comment.snapshot)
        assert "comment.added" == AuditEntry.objects.latest("pk").action

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"text": " "}, "Write something"),
            ({"text": "x" * (MAX_COMMENT_CHARS + 1)}, "4,000 characters at most"),
            ({"text": "x", "xpath": "/html/body/h7"}, "no node"),
            (
                {"text": "x", "xpath": "document('http://evil.example')"},
                "does not begin at the root",
            ),
            ({"text": "x", "attribute": "ghost"}, "an attribute 'ghost'"),
        ],
    )
    def test_what_is_wrong_is_told(self, page: Page, fields: dict[str, Any], told: str) -> None:
        with pytest.raises(ValidationError, match=told):
            add_comment(page=page, **fields)
        assert not Comment.objects.exists()

    def test_a_snapshot_of_another_page_is_refused(self, page: Page) -> None:
        other = product_page(page.site, "p2").latest_snapshot

        with pytest.raises(ValidationError, match="nothing to comment on"):
            add_comment(page=page, text="x", snapshot=other)


class TestResolving:
    def test_settles_once_and_opens_again(self, page: Page) -> None:
        ada = people.create_user(username="ada", role=Role.EDITOR, actor=None)
        comment = add_comment(page=page, text="look")
        resolve_comment(comment=comment, actor=ada)
        resolve_comment(comment=comment, actor=ada)
        assert (ada, 0) == (comment.resolved_by, Comment.objects.open().count())
        assert 1 == AuditEntry.objects.filter(action="comment.resolved").count()

        resolve_comment(comment=comment, is_resolved=False, actor=ada)
        assert (None, 1) == (comment.resolved_by, Comment.objects.open().count())


class TestPage:
    def test_an_editor_comments_at_an_element_by_its_number(self, page: Page) -> None:
        editor = client_of(Role.EDITOR)
        answer = editor.post(
            address(page),
            {"text": "<b>look</b>", "number": "4", "attribute": "price"},
            headers=HEADERS,
        )

        assert "&lt;b&gt;look&lt;/b&gt;" in answer.content.decode()
        assert "/html/body/p/b" == Comment.objects.get().xpath

    def test_what_was_typed_stays_where_it_is_refused(self, page: Page) -> None:
        answer = client_of(Role.EDITOR).post(
            address(page), {"text": "look", "number": "999"}, headers=HEADERS
        )

        assert "There is no such element" in (text := answer.content.decode())
        assert ">look</textarea>" in text

    def test_a_viewer_reads_and_says_nothing(self, page: Page) -> None:
        add_comment(page=page, text="look here")
        viewer = client_of(Role.VIEWER)

        assert "look here" in (text := viewer.get(address(page)).content.decode())
        assert "<form" not in text
        assert 403 == viewer.post(address(page), {"text": "x"}).status_code

    def test_settling_answers_with_the_list(self, page: Page) -> None:
        comment = add_comment(page=page, text="look here")
        editor = client_of(Role.EDITOR)
        action = reverse("resolve_comment", args=["shop", comment.pk])

        assert "Open again" in editor.post(action, headers=HEADERS).content.decode()
        assert "Settle" in editor.post(action, {"open": "yes"}, headers=HEADERS).content.decode()
        assert 302 == editor.post(action).status_code


class TestPlaces:
    def test_each_remark_has_the_number_of_its_element(self, page: Page) -> None:
        at_price = add_comment(page=page, text="with tax?", xpath="//b")
        at_page = add_comment(page=page, text="old")
        assert {at_price.pk: 4} == element_numbers([at_price, at_page], page.latest_snapshot)

    def test_a_remark_at_a_node_that_is_gone_has_none(self, page: Page) -> None:
        comment = add_comment(page=page, text="with tax?", xpath="//b")
        comment.xpath = "/html/body/h7"
        assert {} == element_numbers([comment], page.latest_snapshot)

    def test_the_part_names_the_place_until_it_is_settled(self, page: Page) -> None:
        comment = add_comment(page=page, text="with tax?", xpath="//b")
        client = client_of(Role.EDITOR)
        assert b'data-number="4"' in client.get(address(page)).content
        resolve_comment(comment=comment)
        assert b'data-number="4"' not in client.get(address(page)).content
