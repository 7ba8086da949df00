from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TASK = "clustering.fetch_assets"


def fetch_assets_where_crawls_are(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Have the jobs that are not finished done by the processes that fetch."""
    unfinished = apps.get_model("core", "Job").objects.filter(task=TASK, finished_at__isnull=True)
    unfinished.update(queue="fetch")


class Migration(migrations.Migration):
    dependencies = [("clustering", "0009_heavy_pages"), ("core", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="host",
            name="wanted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(fetch_assets_where_crawls_are, migrations.RunPython.noop),
    ]
