"""People have vouched addresses, and wrong codes are counted apart from wrong passwords."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def vouch_for_addresses(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Trust addresses that people did not enter for themselves: the audit trail has each."""
    User, AuditEntry = apps.get_model("core", "User"), apps.get_model("core", "AuditEntry")
    own_changes = AuditEntry.objects.filter(action="person.changed", actor__isnull=False)
    entered_themselves = {
        entry.actor_id
        for entry in own_changes.select_related("actor").iterator()
        if "email" in entry.detail and entry.subject == entry.actor.username
    }
    User.objects.exclude(email="").exclude(pk__in=entered_themselves).update(has_vouched_email=True)


class Migration(migrations.Migration):
    dependencies = [("core", "0004_installation")]

    operations = [
        migrations.AddField(
            "user", "has_vouched_email", models.BooleanField(default=False), preserve_default=True
        ),
        migrations.AddField(
            "loginattempt",
            "is_second_step",
            models.BooleanField(default=False),
            preserve_default=True,
        ),
        migrations.RunPython(vouch_for_addresses, migrations.RunPython.noop),
    ]
