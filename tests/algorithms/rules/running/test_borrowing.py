from rules.algorithms.running.borrowing import MIN_SHARE_READ, nodes_by_attribute, share_read
from rules.algorithms.running.records import RawRecord, RawValue

HOME = [{"name": 1, "price": 1}, {"name": 1, "price": 2}, {"name": 1, "price": 1, "sale": 1}]


def test_pages_on_which_the_rule_reads_what_it_reads_at_home_may_borrow_it() -> None:
    assert 1.0 == share_read(HOME, [{"name": 1, "price": 1, "sale": 1}])
    assert MIN_SHARE_READ < share_read(HOME, [{"name": 1, "price": 1}]) < 1


def test_what_is_read_at_more_nodes_than_ever_at_home_does_not_count() -> None:
    assert share_read(HOME, [{"name": 1, "price": 20}]) < MIN_SHARE_READ
    assert MIN_SHARE_READ < share_read(HOME, [{"name": 1, "price": 20}], frozenset({"price"}))


def test_pages_that_share_little_do_not_borrow() -> None:
    assert share_read(HOME, [{"name": 1}, {}]) < MIN_SHARE_READ
    assert 0.0 == share_read(HOME, [])


def test_a_rule_of_a_single_field_is_not_lent() -> None:
    assert 0.0 == share_read([{"brand": 1}] * 3, [{"brand": 1}])
    assert 0.0 == share_read([], [{"brand": 1}])


def test_the_nodes_are_those_of_a_page_that_is_one_record() -> None:
    record = RawRecord({"name": [RawValue("Oak", "", n_nodes=3)], "price": []}, [], [])
    assert {"name": 3} == nodes_by_attribute([record])
    assert {} == nodes_by_attribute([record, record])
    assert {} == nodes_by_attribute([])
