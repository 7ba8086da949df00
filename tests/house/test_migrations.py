"""Each migration keeps the rows that the state before it held."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

pytestmark = pytest.mark.both_databases


APPS = ["core", "clustering", "annotation", "rules", "monitoring"]
FIRST_MIGRATION = "0001_initial"
ROWS = 3
# Left blank by model: a constraint lets a row have another field in its place.
LEFT_BLANK = {"keptlist": {"url"}}


def steps() -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return each migration of ours with the one before it, in the order in which they are run."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    plan = executor.migration_plan(graph.leaf_nodes(), clean_start=True)
    return [
        (parent.key, (migration.app_label, migration.name))
        for migration, _ in plan
        if migration.app_label in APPS
        for parent in sorted(graph.node_map[migration.app_label, migration.name].parents)
        if parent.key[0] == migration.app_label
    ]


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_each_migration_keeps_the_rows() -> None:
    MigrationExecutor(connection).migrate([(app, FIRST_MIGRATION) for app in APPS])
    for before, after in steps():
        held = rows_at(before, fill=True)
        if before[1] == FIRST_MIGRATION:
            assert set(held) == models_at(before)
        remaining = rows_at(after, fill=False)
        for model, rows in held.items():
            if model in remaining:
                common = set(rows[0]) & set(remaining[model][0])
                assert [{name: row[name] for name in common} for row in rows] == [
                    {name: row[name] for name in common} for row in remaining[model]
                ], (after, model)
    call_command("migrate", verbosity=0)


@pytest.mark.django_db
def test_each_app_has_a_step_from_its_first_state() -> None:
    assert {app for (app, name), _ in steps() if name == FIRST_MIGRATION} == set(APPS)


def models_at(target: tuple[str, str]) -> set[str]:
    """Return the names of an app's models in one of its states."""
    models_by_key = MigrationExecutor(connection).loader.project_state([target]).models
    return {name for app, name in models_by_key if app == target[0]}


def rows_at(target: tuple[str, str], *, fill: bool) -> dict[str, list[dict[str, Any]]]:
    """Migrate to a state, fill it with rows of each kind if asked, and return all rows by model."""
    state = MigrationExecutor(connection).migrate([target])
    ours = [model for model in state.apps.get_models() if model._meta.app_label == target[0]]
    if fill:
        call_command("flush", interactive=False, verbosity=0, inhibit_post_migrate=True)
        for model in in_order_of_dependence(with_required(ours)):
            for number in range(ROWS):
                model._default_manager.create(**values(model, number))
    return {
        str(model._meta.model_name): list(model._default_manager.order_by("pk").values())
        for model in ours
        if model._default_manager.exists()
    }


def with_required(wanted: list[type[models.Model]]) -> list[type[models.Model]]:
    """Add the models, of any app, whose rows those of the wanted ones must point to."""
    each = list(wanted)
    for model in each:
        each += [required for required in required_models(model) if required not in each]
    return each


def in_order_of_dependence(wanted: list[type[models.Model]]) -> list[type[models.Model]]:
    """Sort models so that what a row must point to exists before it."""
    ordered: list[type[models.Model]] = []
    while len(ordered) < len(wanted):
        ready = [
            model
            for model in wanted
            if model not in ordered and required_models(model) <= set(ordered)
        ]
        assert ready, "models that require each other"
        ordered += ready
    return ordered


def required_models(model: type[models.Model]) -> set[type[models.Model]]:
    return {
        field.remote_field.model
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
        and not field.null
        and field.remote_field.model is not model
    }


def values(model: type[models.Model], number: int) -> dict[str, Any]:
    left_blank = LEFT_BLANK.get(str(model._meta.model_name), set())
    return {
        field.name: value(field, number)
        for field in model._meta.concrete_fields
        if not isinstance(field, models.AutoField)
        and field.name not in left_blank
        and (isinstance(field, models.ForeignKey) or not field.has_default())
    }


def value(field: models.Field[Any, Any], number: int) -> Any:
    if isinstance(field, models.ForeignKey):
        return field.remote_field.model._default_manager.order_by("pk")[number : number + 1].first()
    if field.choices:
        return list(field.flatchoices)[number % len(field.flatchoices)][0]
    if isinstance(field, models.BinaryField):
        return hashlib.sha256(f"{field.name}{number}".encode()).digest()[:16]
    if isinstance(field, models.DateTimeField):
        return None if field.null else timezone.now()
    if isinstance(field, models.DateField):
        return timezone.now().date()
    if isinstance(field, models.IntegerField | models.FloatField):
        return number + 1
    if isinstance(field, models.BooleanField):
        return False
    if isinstance(field, models.JSONField):
        return {}
    return f"{field.name}-{number}"[: field.max_length]
