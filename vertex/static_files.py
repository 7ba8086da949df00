"""Static files under names that hold their hash, so that browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFiles(CompressedManifestStaticFilesStorage):
    """Hash also what scripts import from each other."""

    support_js_module_import_aggregation = True
