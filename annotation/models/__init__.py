"""Verticals with their attributes, samples and annotations."""

from annotation.models.annotations import Annotation, Sample
from annotation.models.verticals import ATTRIBUTE_NAME, Assignment, Attribute, Vertical

__all__ = ["ATTRIBUTE_NAME", "Annotation", "Assignment", "Attribute", "Sample", "Vertical"]
