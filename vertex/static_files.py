"""Static files under names that hold their hash, so that browsers may keep them for ever."""

from whitenoise.storage import (  # type: ignore[import-untyped]  # it has no types
    CompressedManifestStaticFilesStorage,
)


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # for the same reason
    """Hash also what scripts import from each other."""

    support_js_module_import_aggregation = True
