"""What tests of the apps share: the shops that hundreds of them begin with."""

from __future__ import annotations

import pytest
from pytest_django import DjangoDbBlocker

from tests.apps.kept_rows import keep
from tests.apps.rules.shop_cast import build_learnt_shop, build_shop


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Build the shops before the first test: what a test replaces is not yet replaced then."""
    with django_db_blocker.unblock():
        keep("shop", build_shop)
        keep("learnt shop", build_learnt_shop)
