"""Routes of verticals, samples, annotations and comments."""

from annotation.api.annotations import annotations, comments
from annotation.api.verticals import verticals

urlpatterns = [*verticals.urlpatterns, *annotations.urlpatterns, *comments.urlpatterns]
