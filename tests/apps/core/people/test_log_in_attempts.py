"""Guessing is slow from everywhere, and its owner still gets in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection

from vertex.core.models import LogInAttempt, Role, User
from vertex.core.services.people import log_in_attempts, people
from vertex.core.services.people.log_in_attempts import LogInOrigin, TooManyAttempts, WrongPassword

pytestmark = pytest.mark.both_databases


PASSWORD = "seven quiet lanterns"
HOME, ELSEWHERE = LogInOrigin(address="192.0.2.1"), LogInOrigin(address="192.0.2.2")
NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def anna(db: None) -> User:
    return people.create_user(username="anna", password=PASSWORD, actor=None)


def log_in(username: str = "anna", password: str = PASSWORD, origin: LogInOrigin = HOME) -> User:
    return log_in_attempts.check_log_in(username=username, password=password, origin=origin)


def guess(n: int, username: str = "anna", origin: LogInOrigin = HOME) -> None:
    for _ in range(n):
        with pytest.raises(WrongPassword):
            log_in(username, "wrong", origin)


def wait_of(username: str = "anna", password: str = "wrong", origin: LogInOrigin = HOME) -> int:
    with pytest.raises(TooManyAttempts) as refused:
        log_in(username, password, origin)
    return refused.value.seconds


def test_the_right_password_lets_its_owner_in_in_any_letter_case_of_the_name(anna: User) -> None:
    assert anna == log_in("Anna")


def test_a_closed_account_stays_out(anna: User) -> None:
    assert anna == log_in()
    people.create_user(username="boss", role=Role.ADMINISTRATOR, actor=None)
    people.close_user(user=anna, actor=None)

    with pytest.raises(WrongPassword):
        log_in()


def test_a_service_has_no_password_to_guess(db: None) -> None:
    people.create_user(username="feed", is_service=True, password=PASSWORD, actor=None)

    with pytest.raises(WrongPassword):
        log_in("feed")


class TestByName:
    def test_five_wrong_guesses_are_free_and_the_sixth_has_to_wait(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)

        assert 15 == wait_of()

    def test_while_waiting_even_the_right_password_is_not_tried(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)

        assert 15 == wait_of(password=PASSWORD)
        clock.shift(timedelta(seconds=15))
        assert anna == log_in()

    def test_waits_double_up_to_a_quarter_of_an_hour(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)
        waits = []
        for _ in range(8):
            waits.append(wait_of())
            clock.shift(timedelta(seconds=waits[-1]))
            guess(1)

        assert [15, 30, 60, 120, 240, 480, 900, 900] == waits

    def test_attempts_during_the_wait_do_not_make_it_longer(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)
        clock.shift(timedelta(seconds=10))

        assert [5, 5, 5] == [wait_of() for _ in range(3)]
        assert 5 == LogInAttempt.objects.count()

    def test_guesses_from_many_addresses_count_together(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        for number in range(5):
            guess(1, origin=LogInOrigin(address=f"198.51.100.{number}"))

        assert 15 == wait_of(origin=ELSEWHERE)

    def test_an_unknown_name_waits_like_a_known_one(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5, "nobody")

        assert 15 == wait_of("Nobody")

    def test_a_name_is_free_again_after_a_day(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)
        clock.shift(timedelta(days=1, seconds=1))

        guess(5)

    def test_a_new_password_from_an_administrator_needs_no_waiting(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(5)
        assert 15 == wait_of()

        assert anna == log_in(password=people.reset_password(user=anna, actor=None))

    def test_old_failures_are_thrown_away(self, anna: User, clock: time_machine.Traveller) -> None:
        guess(3, "nobody")
        clock.shift(timedelta(days=2))
        guess(1)

        assert ["anna"] == list(LogInAttempt.objects.values_list("username", flat=True))

    def test_getting_in_forgets_ones_own_failures_but_not_those_of_others(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        guess(2, origin=HOME)
        guess(2, origin=ELSEWHERE)
        log_in(origin=HOME)

        assert [ELSEWHERE.address] * 2 == list(
            LogInAttempt.objects.values_list("address", flat=True)
        )


class TestByAddress:
    def test_one_address_may_not_try_many_names(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        for number in range(20):
            guess(1, f"name-{number}")

        assert 15 == wait_of("another")
        assert anna == log_in(origin=ELSEWHERE)

    def test_an_account_of_ones_own_does_not_clear_the_address(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        for number in range(19):
            guess(1, f"name-{number}")
        log_in()
        guess(1, "name-19")

        assert 15 == wait_of("another")

    @pytest.mark.parametrize(
        ("written", "counted"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("", ""),
            ("unix:", ""),
        ],
    )
    def test_a_network_counts_as_one(self, written: str, counted: str) -> None:
        assert counted == log_in_attempts.network_of(written)


class TestKnownDevice:
    """Whoever fills up the count of a name does not keep its owner out."""

    def test_a_device_used_before_gets_in_while_strangers_have_to_wait(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        device = log_in_attempts.known_device(log_in_attempts.name_device(anna), "anna")
        guess(5, origin=ELSEWHERE)

        assert 15 == wait_of(password=PASSWORD, origin=HOME)
        assert anna == log_in(origin=LogInOrigin(address=HOME.address, device=device))

    def test_a_device_gets_in_from_an_address_that_has_to_wait(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        device = log_in_attempts.known_device(log_in_attempts.name_device(anna), "anna")
        for number in range(20):
            guess(1, f"name-{number}")

        assert 15 == wait_of("anna", PASSWORD)
        assert anna == log_in(origin=LogInOrigin(address=HOME.address, device=device))

    def test_guessing_on_a_known_device_is_slow_as_well(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        device = log_in_attempts.known_device(log_in_attempts.name_device(anna), "anna")
        guess(5, origin=LogInOrigin(device=device))

        assert 15 == wait_of(origin=LogInOrigin(device=device))

    def test_a_device_is_known_for_its_user_only(self, anna: User) -> None:
        people.create_user(username="eddy", password=PASSWORD, actor=None)
        cookie = log_in_attempts.name_device(anna)

        assert log_in_attempts.known_device(cookie, "ANNA")
        assert "" == log_in_attempts.known_device(cookie, "eddy")

    @pytest.mark.parametrize("forged", ["", "x", "WzEsImFiYyJd:1abcde:forged"])
    def test_a_forged_cookie_is_no_device(self, anna: User, forged: str) -> None:
        assert "" == log_in_attempts.known_device(forged, "anna")


@pytest.mark.django_db(transaction=True)
def test_of_many_guesses_at_once_no_more_than_the_free_ones_are_tried() -> None:
    people.create_user(username="anna", password=PASSWORD, actor=None)
    tried: list[str] = []
    barrier = threading.Barrier(12)

    def attack() -> None:
        barrier.wait()
        try:
            log_in("anna", "wrong")
        except WrongPassword:
            tried.append("tried")
        except TooManyAttempts:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=attack) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(tried) <= log_in_attempts.FREE_BY_NAME
    assert len(tried) == LogInAttempt.objects.count()
