"""Rules that people write: scored on samples while typed, kept as drafts, served like any other."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation
from clustering.models import Cluster
from rules.bundle.limits import LimitedRuns
from rules.bundle.parallel import extract_bundle
from rules.models import JudgedPage, Record, Rule
from rules.services.learning.learning import learn_rule
from rules.services.learning.panel import learn_panel, panel_of
from rules.services.learning.trial_runs import RULE_CHECK, HandEdit, Trial, try_edit
from rules.services.records.exporting import export_rules
from rules.services.review.hand_versions import NewerVersion, keep_version
from rules.services.review.publishing import publish_rule
from rules.services.review.reviewing import propose_rule
from rules.services.review.rolling_back import roll_back
from rules.views.review.review_rows import judging
from tests.apps.clustering.api_cast import caller
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.learning.test_rule_views import client_of
from tests.apps.rules.shop_cast import (
    annotate_product,
    extract,
    learnt_shop,
    listing,
    products_of,
    shop,
)
from vertex.core.models import AuditEntry, Role, Site, User
from vertex.core.services.people.heavy_work_turns import own_turn
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db

HEAD = (
    '<?xml version="1.0"?>\n<xsl:stylesheet version="1.0" '
    'xmlns:xsl="http://www.w3.org/1999/XSL/Transform">\n'
)
IMPORTED = (
    HEAD + '  <xsl:template match="/">\n    <record>\n'
    '      <value name="name"><xsl:value-of select="//h1"/></value>\n'
    '      <value name="price"><xsl:value-of select="//dd[1]"/></value>\n'
    '      <xsl:if test="//dd[2]"><value name="weight"><xsl:value-of '
    'select="//dd[2]"/></value></xsl:if>\n'
    "    </record>\n  </xsl:template>\n</xsl:stylesheet>\n"
)
ENDLESS = IMPORTED.replace("//dd[1]", "count(//*[count(//*[count(//*[count(//*) > 1]) > 1]) > 1])")


def score(trial: Trial, name: str) -> tuple[int, int, int, int, int]:
    """Return on how many pages an attribute is right, wrong, missed, unwanted, rightly absent."""
    first = next(score for score in trial.scores if score.name == name)
    return first.n_right, first.n_wrong, first.n_missed, first.n_unwanted, first.n_absent


def kept(
    cluster: Cluster, edit: HandEdit, why: str = "The price moved.", newest: int | None = None
) -> Rule:
    return keep_version(cluster=cluster, edit=edit, why=why, newest=newest)


class TestTrying:
    def test_each_page_of_an_editor_counts_as_right_wrong_missed_or_unwanted(self) -> None:
        site, rule = learnt_shop(9)
        annotate_product(site, 2)
        cluster = products_of(site)
        n_rules = Rule.objects.count()

        same = try_edit(cluster, HandEdit(rule))
        assert [(3, 0, 0, 0, 0), (2, 0, 0, 0, 1)] == [score(same, "price"), score(same, "weight")]
        assert (9, 3) == (same.n_run, same.n_annotated)
        other = try_edit(
            cluster, HandEdit(rule, None, {"price": ["//dt[1]"], "weight": ["//dd[last()]"]})
        )
        assert [(0, 3, 0, 0, 0), (2, 0, 0, 1, 0)] == [score(other, "price"), score(other, "weight")]
        none = try_edit(cluster, HandEdit(rule, None, {"price": ["//h7"], "name": []}))
        assert [(0, 0, 3, 0, 0), (0, 0, 3, 0, 0)] == [score(none, "price"), score(none, "name")]
        price = next(one for one in other.scores if one.name == "price")
        assert (("1.50 EUR",), ("Our price",)) == (
            price.examples[0].expected,
            price.examples[0].extracted,
        )
        assert n_rules == Rule.objects.count()

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (IMPORTED.replace("//h1", "document('http://10.0.0.1/')"), "line 5: .*another file"),
            (
                IMPORTED.replace("<record>", '<record><xsl:include href="x"/>'),
                "line 4: .*another stylesheet",
            ),
            (IMPORTED.replace("<record>", "<html>"), "no well-formed XML: .*line"),
            (IMPORTED.replace("//h1", "str:split(//h1)"), "line 5: .*not allowed"),
            (IMPORTED.replace("//h1", "//h1["), "line 5: "),
            ("", "no well-formed XML"),
        ],
    )
    def test_what_is_refused_names_the_line_and_the_reason(self, text: str, reason: str) -> None:
        site = shop(3)
        trial = try_edit(products_of(site), HandEdit(stylesheet=text))

        assert re.search(reason, trial.refused), trial.refused
        with pytest.raises(ValidationError, match="not kept"):
            kept(products_of(site), HandEdit(stylesheet=text))

    def test_a_cluster_without_pages_has_no_samples_and_the_text_can_still_be_kept(self) -> None:
        site = shop(3)
        cluster = Cluster.objects.create(site=site, name="empty", title="Empty")
        trial = try_edit(cluster, HandEdit(stylesheet=IMPORTED))

        assert ("", 0, 0) == (trial.refused, trial.n_run, len(trial.runs))
        assert Rule.State.DRAFT == kept(cluster, HandEdit(stylesheet=IMPORTED)).state

    def test_an_unknown_attribute_is_refused(self) -> None:
        _, rule = learnt_shop(3)

        assert (
            "it has: name, price, weight"
            in try_edit(rule.cluster, HandEdit(rule, None, {"x": ["//b"]})).refused
        )

    def test_a_css_selector_is_kept_as_the_xpath_that_selects_the_same(self) -> None:
        _, rule = learnt_shop()
        by_css = try_edit(rule.cluster, HandEdit(rule, None, {"price": ["css: dd:nth-of-type(1)"]}))
        by_xpath = try_edit(rule.cluster, HandEdit(rule, None, {"price": ["//dd[1]"]}))

        assert score(by_xpath, "price") == score(by_css, "price")
        assert ("//dd[count(preceding-sibling::dd) = 0]",) == by_css.xpaths["price"].xpaths
        unknown = try_edit(rule.cluster, HandEdit(rule, None, {"price": ["css: dd::before"]}))
        assert "price: “dd::before” is not understood" in unknown.refused

    def test_fields_of_a_list_are_written_from_their_record(self) -> None:
        site = listing(3)
        from_scratch = learn(site)
        trial = try_edit(from_scratch.cluster, HandEdit(from_scratch, None, {"name": [".//b"]}))

        assert (2, 0, 0, 0, 0) == score(trial, "name")


class TestKeeping:
    def test_changed_xpaths_are_a_draft_that_says_where_it_is_from(self) -> None:
        _, rule = learnt_shop(6)
        draft = kept(rule.cluster, HandEdit(rule, None, {"price": ["//dd[1]/text()"]}), newest=1)

        assert (2, "draft", "edited", 1) == (
            draft.version,
            draft.state,
            draft.origin,
            draft.edited_from,
        )
        assert ({}, "The price moved.", True) == (draft.definition, draft.comment, draft.is_by_hand)
        kinds = {row["attribute"]: (row["kind"], row["xpath"]) for row in draft.figures}
        assert ("by_hand", "//dd[1]/text()") == kinds["price"]
        assert "xpath" == kinds["name"][0]
        assert list(rule.samples.values_list("snapshot", flat=True)) == list(
            draft.samples.values_list("snapshot", flat=True)
        )
        assert AuditEntry.objects.filter(action="rule.edited", subject=str(draft)).exists()
        again = kept(rule.cluster, HandEdit(draft, None, {"weight": []}))
        assert ["//dd[1]/text()"] == [
            row["ways"][0]["xpath"] for row in again.figures if row["attribute"] == "price"
        ]

    def test_it_goes_the_way_of_every_rule_out_to_the_bundle(self, tmp_path: Path) -> None:
        site, rule = learnt_shop(6)
        draft = kept(rule.cluster, HandEdit(rule, None, {"price": ["//dd[1]"]}))
        propose_rule(rule=draft)
        draft.refresh_from_db()
        # Every page is a sample.
        assert {"name": 0, "price": 0, "weight": 0} == draft.validation["found"]
        publish_rule(rule=draft)
        extract(site)

        record = Record.objects.get(page__url__endswith="p/4")
        assert {"name": "Rope 4", "price": "4.50 EUR", "weight": "45 g"} == record.values
        assert record.rule is not None
        assert 2 == record.rule.version
        assert "/html/body/dl/dd[1]" == record.nodes["price"]
        export_rules(site=site, folder=tmp_path / "bundle")
        assert json.loads((tmp_path / "bundle" / "bundle.json").read_bytes())["rules"][0]["by_hand"]
        pages = tmp_path / "pages"
        (pages / "p").mkdir(parents=True)
        body = record.snapshot.body
        (pages / "p" / "4").with_suffix(".html").write_bytes(page_store().read(body))
        (line,) = extract_bundle(tmp_path / "bundle", pages)
        assert (record.values, record.raw) == (line["record"], line["raw"])
        assert rule == roll_back(rule=draft)

    def test_an_imported_stylesheet_that_tells_no_places_is_marked_by_its_texts(self) -> None:
        site = shop(12)
        annotate_product(site, 1)
        draft = kept(products_of(site), HandEdit(stylesheet=IMPORTED.encode()))
        assert ("imported", None, "by_hand") == (
            draft.origin,
            draft.edited_from,
            draft.figures[0]["kind"],
        )
        Annotation.objects.all().delete()
        draft.samples.filter(snapshot__page__url__endswith="p/5").delete()
        review = propose_rule(rule=draft)

        page = JudgedPage.objects.filter(review=review).order_by("pk")[0]
        assert page.snapshot.page.url.endswith("p/5")  # before the pages that were samples
        assert [{}] == [line["nodes"] for line in page.records]
        shown = judging(review, 1)
        marks = orjson.loads(shown["marks"])
        assert [
            "name (found by its text)",
            "price (found by its text)",
            "weight (found by its text)",
        ] == [mark["label"] for mark in marks]
        assert all(value.is_guessed for value in shown["values"])

    def test_what_lacks_a_reason_or_changes_nothing_is_not_kept(self) -> None:
        _, rule = learnt_shop(3)
        for edit, why, reason in (
            (HandEdit(rule, None, {"price": ["//dd"]}), "  ", "Say why"),
            (HandEdit(rule, None, {"price": ["//dd"]}), "x" * 5_000, "4,000 at most"),
            (HandEdit(rule), "why", "nothing was changed"),
        ):
            with pytest.raises(ValidationError, match=reason):
                kept(rule.cluster, edit, why)

    @pytest.mark.both_databases
    def test_a_newer_version_is_told_and_the_next_save_goes_on_from_it(self) -> None:
        _, rule = learnt_shop(3)
        mine = HandEdit(rule, None, {"price": ["//dd[1]"]})
        kept(rule.cluster, HandEdit(rule, None, {"weight": []}))
        with pytest.raises(NewerVersion, match=r"@2 was made meanwhile \(edited by hand"):
            kept(rule.cluster, mine, newest=1)

        assert 3 == kept(rule.cluster, mine, newest=2).version

    @pytest.mark.both_databases
    def test_a_draft_that_was_learnt_again_in_place_is_told(self) -> None:
        site, rule = learnt_shop(3)
        draft = learn_panel(cluster=rule.cluster).rule
        assert draft is not None
        mine = HandEdit(draft, None, {"price": ["//dd[1]"]})

        def save(seen: Rule) -> Rule:
            return keep_version(
                cluster=rule.cluster,
                edit=mine,
                why="Moved.",
                newest=seen.version,
                newest_made_at=seen.made_at,
            )

        annotate_product(site, 2)
        again = learn_panel(cluster=rule.cluster).rule

        assert again is not None
        assert draft == again
        with pytest.raises(NewerVersion, match=rf"@{draft.version} was made meanwhile"):
            save(draft)
        assert draft.version + 1 == save(again).version

    def test_the_annotation_panel_goes_on_with_what_is_learnt(self) -> None:
        _, rule = learnt_shop(3)
        kept(rule.cluster, HandEdit(rule, None, {"price": ["//dd"]}))
        panel = panel_of(rule.cluster)

        assert panel is not None
        assert rule == panel.rule


def learn(site: Site) -> Rule:
    return learn_rule(cluster=Cluster.objects.present().get(site=site))


class TestPages:
    @pytest.fixture
    def ed(self) -> Client:
        return client_of(Role.EDITOR)

    def test_xpaths_are_scored_and_saved(self, ed: Client) -> None:
        _, rule = learnt_shop(3)
        edit, scoring = (
            reverse(name, args=["shop", rule.cluster.name]) for name in ("edit_rule", "score_edit")
        )
        text = ed.get(edit).content.decode()
        assert all(f'name="xpaths-{name}"' in text for name in ("name", "price", "weight"))
        form = {"form": "xpaths", "base": "1", "newest": "1", "xpaths-price": "//h7\n//dt"}

        scored = ed.post(scoring, form).content.decode()
        assert "Our price" in scored
        assert "?attribute=price" in scored
        refused = ed.post(scoring, form | {"xpaths-price": "//b\ndocument('x')"}).content.decode()
        assert "price, line 2:" in refused
        assert "<table" not in refused
        assert 1 == Rule.objects.count()
        unsaved = ed.post(edit, form).content.decode()
        assert "Say why" in unsaved
        assert "//h7\n//dt</textarea>" in unsaved
        saved = ed.post(edit, form | {"why": "A test"})
        assert f"{reverse('rule', args=['shop', rule.cluster.name])}?version=2" == saved["Location"]
        shown = ed.get(saved["Location"] + "&compare=1").content.decode()
        for each in (
            "edited by hand",
            "from <a",
            "//h7",
            "Written by hand",
            "From version 1 to 2",
            "A test",
        ):
            assert each in shown

    def test_xpaths_go_on_as_a_stylesheet_and_a_conflict_keeps_the_text(self, ed: Client) -> None:
        _, rule = learnt_shop(3)
        edit = reverse("edit_rule", args=["shop", rule.cluster.name])
        form = {"form": "xpaths", "base": "1", "newest": "1", "xpaths-price": "//i[@id='mine']"}
        assert (
            "//i[@id=&#x27;mine&#x27;]"
            in ed.post(edit, form | {"show": "stylesheet"}).content.decode()
        )
        kept(rule.cluster, HandEdit(rule, None, {"weight": []}))

        conflict = ed.post(
            edit,
            {"form": "stylesheet", "base": "1", "newest": "1", "why": "x", "stylesheet": IMPORTED},
        )
        text = conflict.content.decode()
        assert (409, True, True) == (conflict.status_code, "meanwhile" in text, "//dd[2]" in text)
        assert 'name="newest" value="2"' in text

    def test_a_file_is_read_into_the_text(self, ed: Client) -> None:
        site = shop(3)
        scoring = reverse("score_edit", args=["shop", products_of(site).name])
        file = SimpleUploadedFile("rule.xsl", IMPORTED.encode("utf-16"))
        declared = SimpleUploadedFile(
            "rule.xsl", IMPORTED.replace('"1.0"?', '"1.0" encoding="UTF-16"?').encode("utf-16")
        )

        for each in (file, declared):
            text = ed.post(scoring, {"file": each}).content.decode()
            assert "Read from <strong>rule.xsl" in text
        assert 'hx-swap-oob="true">&lt;?xml version' in text
        assert 'value="yes"' in text
        assert "Nobody annotated a sample" in text
        assert "by their texts" in text
        assert (
            "Refused"
            in ed.post(
                scoring, {"file": SimpleUploadedFile("x.xsl", b"\x89PNG\0")}
            ).content.decode()
        )

    def test_without_samples_or_vertical_it_says_what_to_do(self, ed: Client) -> None:
        site = shop(3)
        Cluster.objects.create(site=site, name="empty", title="Empty")
        scored = ed.post(
            reverse("score_edit", args=["shop", "empty"]),
            {"form": "stylesheet", "stylesheet": IMPORTED},
        )
        assert "No samples." in scored.content.decode()
        site.assignments.all().delete()

        assert (
            "Nothing to look for yet"
            in ed.get(reverse("edit_rule", args=["shop", "empty"])).content.decode()
        )
        assert (
            404 == ed.get(reverse("edit_rule", args=["shop", "empty"]) + "?version=9").status_code
        )

    def test_a_viewer_edits_nothing(self) -> None:
        site = shop(3)
        viewer = client_of(Role.VIEWER)

        for name in ("edit_rule", "score_edit"):
            assert (
                403 == viewer.post(reverse(name, args=["shop", products_of(site).name])).status_code
            )


class TestPrograms:
    def test_a_person_has_one_check_at_a_time(self) -> None:
        _, rule = learnt_shop(3)
        name = rule.cluster.name
        ed, eve = caller("ed", Role.EDITOR), caller("eve", Role.EDITOR)
        page = client_of(Role.EDITOR)
        body = {"cluster": name, "version": 1, "xpaths": {"price": ["//dt"]}}
        scoring = reverse("score_edit", args=["shop", name])
        form = {"form": "xpaths", "base": "1", "xpaths-price": "//dt"}
        with ExitStack() as checks:
            for person in User.objects.all():
                if person.username != "eve":
                    checks.enter_context(own_turn(person, RULE_CHECK))

            refused = ed.post("sites/shop/rule-checks/", body)
            assert (429, "2") == (refused.status_code, refused["Retry-After"])
            assert "still being worked on" in refused.json()["error"]["message"]
            waiting = page.post(scoring, form).content.decode()
            assert 'hx-trigger="load delay:1s"' in waiting
            assert "Our price" not in waiting
            assert 200 == eve.post("sites/shop/rule-checks/", body).status_code
        assert 200 == ed.post("sites/shop/rule-checks/", body).status_code
        assert "Our price" in page.post(scoring, form).content.decode()

    def test_the_api_scores_and_keeps(self) -> None:
        _, rule = learnt_shop(3)
        ed, name = caller("ed", Role.EDITOR), rule.cluster.name
        body = {"cluster": name, "version": 1, "xpaths": {"price": ["//dt"]}}
        scored = ed.post("sites/shop/rule-checks/", body).json()
        (price,) = (
            attribute for attribute in scored["attributes"] if attribute["attribute"] == "price"
        )
        assert 2 == price["wrong"]
        assert ["1.50 EUR"] == price["first_wrong"]["expected"]
        assert ["Our price"] == price["first_wrong"]["got"]
        reading_a_file = IMPORTED.replace("//h1", "document('x')")
        checked = ed.post(
            "sites/shop/rule-checks/", {"cluster": name, "stylesheet": reading_a_file}
        ).json()
        assert "line 5" in checked["refused"]

        answer = ed.post("sites/shop/rule-drafts/", body | {"why": "A test", "newest": 1})
        assert (201, "edited", 1) == (
            answer.status_code,
            answer.json()["origin"],
            answer.json()["edited_from"],
        )
        assert (
            409
            == ed.post("sites/shop/rule-drafts/", body | {"why": "A test", "newest": 1}).status_code
        )
        for wrong in ({"cluster": "ghost"}, {"version": 7}, {"stylesheet": "x"}, {"why": ""}):
            assert (
                400
                == ed.post("sites/shop/rule-drafts/", {"why": "A test"} | body | wrong).status_code
            )
        assert 403 == caller("vera", Role.VIEWER).post("sites/shop/rule-checks/", body).status_code

    def test_the_command_keeps_a_file(self, tmp_path: Path) -> None:
        site = shop(3)
        annotate_product(site, 1)
        name, file, lines = products_of(site).name, tmp_path / "rule.xsl", tmp_path / "lines.jsonl"
        file.write_text(IMPORTED)
        call_command("import_rule", "shop", name, str(file), "--check", "--output", str(lines))
        assert not Rule.objects.exists()
        call_command(
            "import_rule",
            "shop",
            name,
            str(file),
            "--why",
            "From the old system",
            "--output",
            str(lines),
        )

        assert "imported" == Rule.objects.get().origin
        results = [json.loads(line) for line in lines.read_text().splitlines()]
        assert [("name", 1), ("price", 1), ("weight", 1)] == [
            (result["attribute"], result["right"]) for result in results
        ]
        file.write_text(IMPORTED.replace("//h1", "document('x')"))
        for arguments in ((name, "--why", "x"), ("ghost", "--why", "x")):
            with pytest.raises(CommandError, match=r"line 5|no cluster"):
                call_command("import_rule", "shop", arguments[0], str(file), *arguments[1:])


def test_a_rule_that_does_not_end_is_stopped_and_the_page_is_told() -> None:
    site = shop(3)
    store(site, [("p/1", b"<h1>Rope</h1>" + b"<b>x" * 240, "text/html")])
    with LimitedRuns(cpu_seconds=1, wall_seconds=60) as runs:
        trial = try_edit(products_of(site), HandEdit(stylesheet=ENDLESS), runs=runs)

    assert trial.stopped is not None
    assert trial.stopped.snapshot.page.url.endswith("p/1")
    assert "longer than 1 seconds" in trial.stopped.why
    assert trial.n_run + trial.n_not_run + 1 == len(trial.runs)
