"""Verticals with their attributes, samples, annotations and what is said and measured of them.

verticals           verticals, their attributes, and which clusters they describe
annotations         samples, and the annotations of attributes on pages
second_annotations  which pages a second person annotates
comments            what people say to each other about a page
effort              how much work annotating is
keys                which keys a person chose
policies            what a site asks of reviews
"""

from annotation.models.annotations import Annotation, Sample
from annotation.models.comments import Comment
from annotation.models.effort import Effort
from annotation.models.keys import ChosenKeys
from annotation.models.policies import ReviewPolicy
from annotation.models.second_annotations import SecondAnnotation
from annotation.models.verticals import ATTRIBUTE_NAME, Assignment, Attribute, Vertical

__all__ = [
    "ATTRIBUTE_NAME",
    "Annotation",
    "Assignment",
    "Attribute",
    "ChosenKeys",
    "Comment",
    "Effort",
    "ReviewPolicy",
    "Sample",
    "SecondAnnotation",
    "Vertical",
]
