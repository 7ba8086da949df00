"""Keep what each layout lacks; that of stored ones is what the others of their cluster have."""

from django.db import migrations, models


def fill_lacks(apps, schema_editor):  # type: ignore[no-untyped-def]
    """Say of each stored layout what was shown of it: what one has, all others lacked then."""
    ClusterLayout = apps.get_model("clustering", "ClusterLayout")
    layouts_by_cluster = {}
    for layout in ClusterLayout.objects.order_by("pk"):
        of_cluster = layouts_by_cluster.setdefault((layout.clustering_id, layout.cluster_id), [])
        of_cluster.append(layout)
    for layouts in layouts_by_cluster.values():
        for layout in layouts:
            of_others = [text for other in layouts if other is not layout for text in other.has]
            layout.lacks = of_others[:3]
        ClusterLayout.objects.bulk_update(layouts, ["lacks"])


class Migration(migrations.Migration):
    dependencies = [
        ("clustering", "0012_cluster_annotator"),
    ]

    operations = [
        migrations.AddField("clusterlayout", "lacks", models.JSONField(default=list)),
        migrations.RunPython(fill_lacks, migrations.RunPython.noop),
    ]
