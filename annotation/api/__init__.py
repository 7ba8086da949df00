"""Routes of verticals, samples and annotations."""

from annotation.api import annotations, verticals
from annotation.api.verticals import VerticalNameConverter

__all__ = ["VerticalNameConverter", "urlpatterns"]

urlpatterns = [*verticals.urlpatterns, *annotations.urlpatterns]
