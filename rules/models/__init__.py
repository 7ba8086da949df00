"""Rules with their versions and reviews, the records that they extract, and who is told of them.

rules           rules with their versions and pages; bellwethers and golden records
borrowed_rules  which rule serves a cluster that has none of its own
reviews         how a rule is reviewed: proposed, judged, compared, published or sent back
records         what rules extract from pages
webhooks        who is told of changed records, and how that went
fields          what published rules tell of the fields of their verticals
pictures        small pictures of where a rule finds its values
"""

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
