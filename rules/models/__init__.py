"""Rules with their versions and reviews, the records that they extract, and who is told of them."""

from rules.models.borrowed_rules import BorrowedRule
from rules.models.fields import FieldProfile
from rules.models.pictures import PlacePicture
from rules.models.records import ChangeCounter, Extraction, Record, RecordQuerySet, RecordVersion
from rules.models.reviews import Impact, JudgedPage, Review
from rules.models.rules import Bellwether, GoldenRecord, Rule, RuleSample
from rules.models.webhooks import Delivery, Webhook

__all__ = [
    "Bellwether",
    "BorrowedRule",
    "ChangeCounter",
    "Delivery",
    "Extraction",
    "FieldProfile",
    "GoldenRecord",
    "Impact",
    "JudgedPage",
    "PlacePicture",
    "Record",
    "RecordQuerySet",
    "RecordVersion",
    "Review",
    "Rule",
    "RuleSample",
    "Webhook",
]
