from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rules", "0005_borrowed_rules")]

    operations = [
        migrations.RenameField("record", "least_confidence", "record_confidence"),
    ]
