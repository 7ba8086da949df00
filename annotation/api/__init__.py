"""Routes of verticals, samples, annotations and comments."""

from annotation.api import annotations, comments, verticals
from annotation.api.verticals import VerticalNameConverter

__all__ = ["VerticalNameConverter", "urlpatterns"]

urlpatterns = [*verticals.urlpatterns, *annotations.urlpatterns, *comments.urlpatterns]
