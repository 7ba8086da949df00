"""Keep addresses as they were handed in; pages found by links have their normalised one."""

from django.db import migrations, models
from django.db.models import F, Q


def keep_only_given(apps, schema_editor):  # type: ignore[no-untyped-def]
    """Forget how links wrote addresses: only those of entries and imported pages were handed in."""
    Page = apps.get_model("clustering", "Page")
    is_absolute = Q(given_url__istartswith="http://") | Q(given_url__istartswith="https://")
    found_by_links = Page.objects.filter(Q(depth__gt=0) | ~is_absolute)
    found_by_links.update(given_url=F("url"))


class Migration(migrations.Migration):
    dependencies = [
        ("clustering", "0004_kinds_and_layouts"),
    ]

    operations = [
        migrations.RenameField("page", "written_url", "given_url"),
        migrations.RunPython(keep_only_given, migrations.RunPython.noop),
    ]
