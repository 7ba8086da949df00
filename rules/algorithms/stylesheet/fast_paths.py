"""Print an alternative's path in a form that a stylesheet runs fast; it selects the same nodes.

Notation:   A driver is the feature whose nodes are found first; all others are tested on these few.
            A driver by text starts from the texts that begin like a label, which the key `text`
            finds, and goes on to the next text that shows something.
Readings:   The definition is `Alternative.path`. The key `text` knows a text by its first three
            characters without blanks: a label that is split within them over several elements
            is not found. Nor is an element behind more than MAX_BETWEEN others that show
            nothing. What several attributes are looked for among, all elements of a tag or all
            ids, is found once.
Departures: Blank text nodes are not stripped from the page: stripping would join the words of
            `<b>a</b> <i>b</i>` and move the places of texts. The nearest text is found in two steps
            of constant cost; only where both are blank the whole axis is searched.
Cost:       `preceding::text()[test][1]` collects all texts before a node, so that a scan with it
            is quadratic; `preceding::text()[1]` and `[2]` cost nothing. Walking over a page is
            cheap; calling a function for each of its nodes costs a third of parsing it,
            comparing them with a string an eighth. What translates characters costs
            microseconds, so it comes last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rules.algorithms.rule.feature import Feature, within
from rules.algorithms.rule.rule import TEXT_TARGET
from rules.algorithms.rule.xpaths import (
    COLONS,
    HAS_TEXT,
    NO_BREAK_SPACE,
    WIDTHLESS,
    any_of,
    ends_with,
    equals_any,
    label_form,
    literal,
    shown_form,
)

TEXT_KEY, CLASS_KEY, ID_KEY = "text", "class", "id"
MAX_BETWEEN = 50  # elements that begin between an anchor and the text beside it
# Uses from which on a key pays: it takes about as long to build as so many scans.
MIN_USES = {TEXT_KEY: 3, CLASS_KEY: 6, ID_KEY: 20}
N_FIRST = 3  # characters by which the key knows a text
N_NEAR_TEXTS = 6  # of which the nearest text that shows something is most often one
N_FIRST_TEXTS = 3  # of an element, with which its label begins
_PASSED_OVER = f" {NO_BREAK_SPACE}{WIDTHLESS}{COLONS}"
_BLANKS = "\t\n\r"
_OPENING = 12  # characters of a text of which at least N_FIRST are taken to show
_OPENING_CHARACTERS = f"substring(normalize-space(.), 1, {_OPENING})"
FIRST_CHARACTERS = (
    f"substring(translate({_OPENING_CHARACTERS}, '{_PASSED_OVER}', ''), 1, {N_FIRST})"
)
SHOWS = shown_form(".")
_KEYS = {
    TEXT_KEY: (
        "<!-- Texts by their first three characters without blanks. -->",
        f'<xsl:key name="text" match="text()[normalize-space()]" use="{FIRST_CHARACTERS}"/>',
    ),
    CLASS_KEY: (
        "<!-- Elements by their whole class. -->",
        '<xsl:key name="class" match="*[@class]" use="@class"/>',
    ),
    ID_KEY: ("<!-- Elements by their id. -->", '<xsl:key name="id" match="*[@id]" use="@id"/>'),
}

# Which feature goes first: the lower its rank, the fewer nodes its driver finds.
_RANKS = {
    "id": 0,
    "label": 1,
    "before": 1,
    "after": 1,
    "after_starts": 1,
    "sibling_text": 2,
    "first_text": 2,
    "starts": 2,
    "heading": 3,
    "class": 4,
    "attribute": 5,
    "token": 6,
    "tag": 7,
    "has": 8,
}
_NO_DRIVER = 9.0
_MAX_NEAR_LEVEL = 2
_LOOK_AT_TEXT, _LOOK_AT_LABEL = 2.0, 5.0  # a look at an element's tag or attribute costs 1
_PLACED = 0.5  # the rank of a label whose tag is known
_IN_A_TAG = 8.5  # the rank of a text feature whose element has a tag, which finds fewer nodes
_BESIDE = {
    "label": "following",
    "before": "following",
    "after": "preceding",
    "after_starts": "preceding",
}
_BY_TEXT = frozenset({*_BESIDE, "sibling_text", "first_text", "starts", "heading"})
_OF_TEXTS = frozenset({*_BESIDE, "sibling_text", "starts"})  # drivers that find text nodes
_BY_KEY = {"id": ID_KEY, "class": CLASS_KEY}
_BY_ATTRIBUTE = frozenset({"id", "class", "token", "attribute"})
_LOOKS_BACK = frozenset({"label", "before", "before_ends"})
_LOOKS_AHEAD = frozenset({"after", "after_starts"})
_SLOW = frozenset(
    {
        "label",
        "before",
        "after",
        "before_ends",
        "after_starts",
        "shape",
        "sibling_text",
        "first_text",
        "contains",
        "position",
        "first",
        "last",
    }
)


@dataclass(slots=True)
class Steps:
    """What a path needs beside itself: keys of the stylesheet, and variables before it."""

    worth: frozenset[str] = frozenset()  # keys that are asked often enough to be built
    keys: set[str] = field(default_factory=set)  # that are used
    shared: dict[str, str] = field(default_factory=dict)  # XPaths of the whole stylesheet, by name
    variables: list[tuple[str, str]] = field(default_factory=list)  # name, XPath
    n_variables: int = 0

    def declare(self, name: str, xpath: str) -> str:
        """Add a variable, and return how it is used."""
        self.n_variables += 1
        numbered = f"{name}-{self.n_variables}"
        self.variables.append((numbered, xpath))
        return f"${numbered}"

    def every(self, tag: str) -> str:
        """Return all elements of a tag."""
        return self.share(f"every-{tag}", f"/descendant::{tag}")

    def share(self, name: str, xpath: str) -> str:
        """Have the stylesheet find some nodes once, and return how they are used."""
        self.shared[name] = xpath
        return f"${name}"

    def declarations(self) -> list[str]:
        """Return what the stylesheet declares for the whole page."""
        lines: list[str] = []
        for name, declaration in _KEYS.items():
            if name in self.keys:
                lines += declaration
        if self.shared:
            lines.append("<!-- What attributes are looked for among; it is found once. -->")
        for name, path in sorted(self.shared.items()):
            lines.append(f'<xsl:variable name="{name}" select="{path}"/>')
        return lines

    def taken_variables(self) -> list[tuple[str, str]]:
        """Return the variables declared since the last call."""
        variables, self.variables = self.variables, []
        return variables


def fast_path(target: str, features: Sequence[Feature], steps: Steps) -> str:
    """Return the XPath of all nodes of a page with the features; for "@name" that of the owners."""
    features = _without_text_tag(target, features)
    driver = min(features, key=lambda feature: _rank(feature, target, features), default=None)
    if driver is None or _rank(driver, target, features) >= _NO_DRIVER:
        top = max((feature.level for feature in features), default=0)
        shows = f"[{SHOWS}]" if top == 0 and target == TEXT_TARGET else ""
        return _downwards(
            f"/descendant::{_step(target, top, features)}{shows}", top, target, features
        )
    nodes = _driven(target, driver, features, steps) + _tests_above(driver.level, features)
    if driver.level == 0 and target == TEXT_TARGET:
        nodes += f"[{SHOWS}]"
    return _downwards(nodes, driver.level, target, features)


class Visits(NamedTuple):
    """The elements that are looked at to find the nodes of a path, and what a look costs."""

    tags: Sequence[str]  # none: all elements
    weight: float


def visits_of(target: str, features: Sequence[Feature]) -> Visits:
    """Return what a path's driver looks at; all that is tested then are few nodes."""
    features = _without_text_tag(target, features)
    driver = min(features, key=lambda feature: _rank(feature, target, features), default=None)
    if driver is None or _rank(driver, target, features) >= _NO_DRIVER:
        return Visits((), _LOOK_AT_LABEL)
    if driver.level > _MAX_NEAR_LEVEL:
        return Visits((), _LOOK_AT_LABEL)  # it is not known how many nodes stand below
    if driver.kind in _BESIDE and driver.name and target == TEXT_TARGET and not driver.level:
        return Visits(driver.name.split(), _LOOK_AT_TEXT)
    if driver.kind == "heading":
        return Visits([driver.name], _LOOK_AT_LABEL)
    tag = _plain_tag(driver.level, features)
    if driver.kind in _BY_TEXT:
        return Visits((), _LOOK_AT_LABEL)  # all that stand around or near the text
    of_level = [feature for feature in features if feature.level == driver.level]
    is_slow = any(feature.kind in _SLOW for feature in of_level)
    look = _LOOK_AT_LABEL if is_slow else 1
    if tag is None or driver.axis != "self" or driver.kind == "id":
        return Visits((), look)
    return Visits(tag.values, driver.level + look)


def keys_worth_building(features: Iterable[Feature]) -> frozenset[str]:
    """Return the keys that pay for themselves where all these features are looked for."""
    uses: Counter[str] = Counter()
    for feature in features:
        if feature.kind in _BY_TEXT and not feature.name:
            uses[TEXT_KEY] += len(feature.values)
        elif feature.kind in _BY_KEY:
            uses[_BY_KEY[feature.kind]] += len(feature.values)
    return frozenset(key for key, n in uses.items() if n >= MIN_USES[key])


def path_within(scope: str, target: str, features: Sequence[Feature], steps: Steps) -> str:
    """Return the XPath of the nodes that have the features, within the nodes that `scope` selects.

    A text beside a node counts if it is within them too: a record has no label from the
    one before it.
    """
    features = _without_text_tag(target, features)
    path = f"{scope}/descendant-or-self::{_step(target, 0, features)}{_tests_above(0, features)}"
    if target == TEXT_TARGET:
        path += f"[{SHOWS}]"
    for feature in features:
        for test in _not_beyond(feature, scope, target, steps):
            path += f"[{test}]"
    return path


def _not_beyond(feature: Feature, scope: str, target: str, steps: Steps) -> list[str]:
    """Return the test that the text beside a node of a feature's level is not beyond the scope."""
    if feature.axis != "self" or feature.kind not in _LOOKS_BACK | _LOOKS_AHEAD:
        return []
    nth = "1" if feature.kind in _LOOKS_BACK else "last()"
    end = steps.declare("end", f"generate-id(({scope}/descendant-or-self::text()[{SHOWS}])[{nth}])")
    node = f"ancestor::*[{feature.level}]" if feature.level else "."
    is_text = target == TEXT_TARGET and not feature.level
    own = "." if is_text else f"({node}/descendant::text()[{SHOWS}])[{nth}]"
    tests = [f"generate-id({own}) != {end}"]
    if feature.kind == "label":
        tests += [
            f"starts-with({label_form(node)}, {literal(f'{value} ')})" for value in feature.values
        ]
    return [" or ".join(tests)]


def _without_text_tag(target: str, features: Sequence[Feature]) -> list[Feature]:
    """Return the features without the tag of a text, which it has none of."""
    if target != TEXT_TARGET:
        return list(features)
    return [feature for feature in features if feature.level > 0 or not feature.is_plain_tag]


def element_test(features: Sequence[Feature]) -> str:
    """Return the test that an element itself has the features."""
    return f"self::{_step('element', 0, features)}{_tests_above(0, features)}"


def _rank(feature: Feature, target: str, features: Sequence[Feature]) -> float:
    """Return a rank that grows with the nodes the driver finds; _NO_DRIVER where there is none."""
    if feature.axis not in {"self", "ancestor"} or (
        feature.axis == "ancestor" and feature.kind in _BY_TEXT
    ):
        return _NO_DRIVER
    if feature.kind in _BY_TEXT - _BESIDE.keys() and target.startswith("@"):
        return _NO_DRIVER  # an image shows no text by which it could be found
    if feature.level == 0 and target == TEXT_TARGET and feature.kind not in _OF_TEXTS:
        return _NO_DRIVER
    rank = _RANKS.get(feature.kind, _NO_DRIVER) + 0.09 * min(feature.level, 9)
    if feature.kind in _BESIDE:
        # A text beside the label is found at once, an element only by all that stand near.
        rank = _PLACED + 0.04 * min(feature.level, 9) if feature.name else rank
    elif feature.kind in _BY_TEXT and feature.kind != "heading":
        level = max(feature.level, 1 if target == TEXT_TARGET else 0)
        rank = _IN_A_TAG if _plain_tag(level, features) else rank
    return rank + (0.9 if feature.axis == "ancestor" else 0)


def _driven(target: str, driver: Feature, features: Sequence[Feature], steps: Steps) -> str:
    """Return the nodes of the driver's level that have all features of that level."""
    others_of_level = _others_of_level(driver, features)
    if driver.kind == "heading":
        return steps.every(driver.name) + _predicates([*others_of_level, driver])
    if driver.kind in _BY_TEXT:
        nodes = " | ".join(_found_by_text(driver, value, target, steps) for value in driver.values)
        return steps.declare("found", nodes) + _predicates(others_of_level)
    if driver.axis == "ancestor":
        is_keyed = _BY_KEY.get(driver.kind) in steps.worth
        above = _keyed(driver, steps) if is_keyed else f"/descendant::{_ancestor(driver)}"
        return f"{above}/descendant::{_step(target, driver.level, others_of_level)}"
    return _found_by_element(target, driver, features, steps)


def _others_of_level(driver: Feature, features: Sequence[Feature]) -> list[Feature]:
    """Return the features of the driver's level without the driver itself."""
    return [
        feature for feature in features if feature.level == driver.level and feature is not driver
    ]


def _found_by_element(
    target: str, driver: Feature, features: Sequence[Feature], steps: Steps
) -> str:
    """Return the elements that a feature of an element itself selects."""
    others_of_level = _others_of_level(driver, features)
    tag = _plain_tag(driver.level, features)
    if _BY_KEY.get(driver.kind) in steps.worth and tag is None:
        return _keyed(driver, steps) + _predicates(others_of_level)
    if driver.kind in _BY_ATTRIBUTE:
        owner = tag.values[0] if tag else "*"
        attributes = _attributes(driver, tag, steps)
        without_tag = [feature for feature in others_of_level if feature is not tag]
        return f"{attributes}/parent::{owner}{_predicates(without_tag)}"
    if tag:
        features_of_level = (driver, *others_of_level)
        without_tag = [feature for feature in features_of_level if feature is not tag]
        return steps.every(tag.values[0]) + _predicates(without_tag)
    return f"/descendant::{_step(target, driver.level, features)}"


def _attributes(driver: Feature, tag: Feature | None, steps: Steps) -> str:
    """Return the attributes that have a value: fewer nodes than the elements are."""
    name = driver.name or {"token": "class"}.get(driver.kind, driver.kind)
    if tag and driver.kind != "id":
        return f"{steps.every(tag.values[0])}/@{name}{_attribute_tests(driver)}"
    return steps.share(f"every.{name}", f"/descendant::*/@{name}") + _attribute_tests(driver)


def _attribute_tests(driver: Feature) -> str:
    """Return the predicates of the attributes that have a value."""
    if driver.kind != "token":
        return f"[{equals_any('.', driver.values)}]"
    may_have = any_of(f"contains(., {literal(value)})" for value in driver.values)
    tests = (
        f"contains(concat(' ', normalize-space(.), ' '), {literal(f' {value} ')})"
        for value in driver.values
    )
    return f"[{may_have}][{any_of(tests)}]"


def _ancestor(feature: Feature) -> str:
    """Return the step to the ancestors that a feature of any ancestor asks for."""
    if feature.kind == "tag" and len(feature.values) == 1:
        return feature.values[0]
    return f"*[{replace(feature, axis='self').test}]"


def _keyed(driver: Feature, steps: Steps) -> str:
    """Return the elements of an id or a class, by their key."""
    key = _BY_KEY[driver.kind]
    steps.keys.add(key)
    nodes = [f"key('{key}', {literal(value)})" for value in driver.values]
    return f"{nodes[0]}/self::*" if len(nodes) == 1 else f"({' | '.join(nodes)})"


def _found_by_text(driver: Feature, value: str, target: str, steps: Steps) -> str:
    """Return the nodes a feature of texts selects, found by texts that begin like its value."""
    is_text = target == TEXT_TARGET and driver.level == 0
    beginning = _texts_beginning_like(value, steps, driver.name if driver.kind == "before" else "")
    if driver.kind in _BESIDE:
        return _beside(driver, value, beginning, target, steps)
    if driver.kind == "starts":
        return f"{beginning}{'' if is_text else '/ancestor::*'}[{fast_test(driver, value)}]"
    if driver.kind == "first_text":
        text = f"{beginning}[{label_form('.')}={literal(value)}]"
        return f"{text}/ancestor::*[{fast_test(driver, value)}]"
    element = f"{beginning}/ancestor::*[{_begins_like(value)}][{label_form('.')}={literal(value)}]"
    if driver.kind == "sibling_text":
        return f"{element}/following-sibling::" + (
            f"text()[{SHOWS}][{fast_test(driver, value)}]" if is_text else "*[1]"
        )
    return f"{element}/following-sibling::{driver.name}[{fast_test(driver, value)}]"


def _next_shown(texts: str, axis: str, steps: Steps) -> str:
    """Return the nearest text that shows something from each of some texts."""
    first = steps.declare("beside", f"{texts}/{axis}::text()[1]")
    second = steps.declare("beside", f"{first}[not({SHOWS})]/{axis}::text()[1]")
    return f"({first} | {second})[{SHOWS}] | {second}[not({SHOWS})]/{axis}::{HAS_TEXT}[1]"


def _beside(driver: Feature, value: str, beginning: str, target: str, steps: Steps) -> str:
    """Return the nodes beside a text, and under "label" those that begin with it themselves."""
    test = f"{label_form('.')}={literal(value)}"
    if driver.kind == "after_starts":
        test = f"starts-with({SHOWS}, {literal(value)})"
    axis = _BESIDE[driver.kind]
    is_text = target == TEXT_TARGET and driver.level == 0
    texts = steps.declare("anchor", f"{beginning}[{test}]")
    if is_text:
        nodes = _next_shown(texts, axis, steps)
    else:
        feature = replace(driver, kind="before") if driver.kind == "label" else driver
        has_attribute = f"[{target}]" if driver.level == 0 and target.startswith("@") else ""
        test_beside = f"{has_attribute}[{fast_test(feature, value)}]"
        if target == TEXT_TARGET:
            # The element has a text that is shown, so it stands around the next one.
            nodes = f"({_next_shown(texts, axis, steps)})/ancestor::*{test_beside}"
        else:
            nodes = f"{texts}/{axis}::*[position() <= {MAX_BETWEEN}]{test_beside}"
    if driver.kind != "label":
        return nodes
    begins_with_it = f"starts-with({label_form('.')}, {literal(f'{value} ')})"
    return f"{nodes} | {beginning}{'' if is_text else '/ancestor::*'}[{begins_with_it}]"


def _texts_beginning_like(value: str, steps: Steps, tags: str) -> str:
    if tags:
        elements = " | ".join(steps.every(tag) for tag in tags.split())
        elements = f"({elements})" if " " in tags else elements
        return f"{elements}/text()[contains(., {literal(value[0])})]"
    first = _without_blanks(value)[:N_FIRST]
    if len(first) == N_FIRST and TEXT_KEY in steps.worth:
        steps.keys.add(TEXT_KEY)
        return f"key('text', {literal(first)})"
    return f"/descendant::text()[contains(., {literal(value[0])})]"


def _without_blanks(value: str) -> str:
    return "".join(character for character in value if character not in _PASSED_OVER)


def nearest(axis: str, form: Callable[[str], str], value: str, place: str = "") -> str:
    """Return the test that the nearest shown text has a value in a form, and a place."""
    return nearest_text(axis, lambda text: f"{form(f'{text}{place}')}={literal(value)}")


def nearest_text(axis: str, test: Callable[[str], str]) -> str:
    """Return a test of the nearest text that shows something; no blank text may pass it."""
    further = test(f"{axis}::{HAS_TEXT}[1]")
    for place in range(N_NEAR_TEXTS, 0, -1):
        text = f"{axis}::text()[{place}]"
        further = f"{test(text)} or not({shown_form(text)}) and ({further})"
    return further


def _begins_like(value: str) -> str:
    """Return a test that all elements pass which show a value, and next to no others."""
    texts = ", ".join(f"descendant::text()[{place}]" for place in range(1, N_FIRST_TEXTS + 1))
    beginning = f"translate(concat({texts}), '{_PASSED_OVER}{_BLANKS}', '')"
    return f"starts-with({literal(_without_blanks(value))}, {beginning})"


def fast_test(feature: Feature, value: str) -> str:
    """Return the test of a feature for one of its values, in its fast form."""
    if feature.kind == "label":
        own = f"starts-with({label_form('.')}, {literal(f'{value} ')})"
        return f"{nearest('preceding', label_form, value)} or {own}"
    if feature.kind == "before":
        return nearest("preceding", label_form, value, within(feature))
    if feature.kind == "after":
        return nearest("following", label_form, value)
    if feature.kind == "before_ends":
        return nearest_text("preceding", lambda text: ends_with(shown_form(text), value))
    if feature.kind == "after_starts":
        return nearest_text(
            "following", lambda text: f"starts-with({shown_form(text)}, {literal(value)})"
        )
    if feature.kind == "first_text":
        return nearest("descendant", label_form, value)
    if feature.kind == "sibling_text":
        return f"preceding-sibling::*[1][{_begins_like(value)}][{label_form('.')}={literal(value)}]"
    if feature.kind == "contains":
        return f"({_may_contain(value)}) and {replace(feature, values=(value,)).test}"
    return replace(feature, values=(value,)).test


def _may_contain(value: str) -> str:
    """Return a raw test that texts showing a value pass: its first word, or what has no width."""
    raw = [value.partition(" ")[0], *WIDTHLESS]
    return any_of(f"contains(., {literal(word)})" for word in raw)


def _downwards(nodes: str, level: int, target: str, features: Sequence[Feature]) -> str:
    """Go on from the nodes of a level down to the target."""
    path = "/".join(
        [nodes, *(_step(target, below, features) for below in range(level - 1, -1, -1))]
    )
    if target.startswith("@"):
        return f"{path}[{target}]"
    return f"{path}[{SHOWS}]" if level > 0 and target == TEXT_TARGET else path


def _tests_above(level: int, features: Sequence[Feature]) -> str:
    """Return the tests of the levels above one, as a predicate of its nodes."""
    test = ""
    highest = max((feature.level for feature in features), default=0)
    for above in range(highest, level, -1):
        test = f"[parent::{_step('element', above, features)}{test}]"
    return test


def _step(target: str, level: int, features: Sequence[Feature]) -> str:
    """Return the step to a level with the tests of its features."""
    is_text = level == 0 and target == TEXT_TARGET
    features_of_level = [feature for feature in features if feature.level == level]
    if is_text:
        return "text()" + _predicates(features_of_level)
    tag = _plain_tag(level, features)
    name = tag.values[0] if tag else "*"
    return name + _predicates([feature for feature in features_of_level if feature is not tag])


def _plain_tag(level: int, features: Sequence[Feature]) -> Feature | None:
    for feature in features:
        if feature.level == level and feature.is_plain_tag:
            return feature
    return None


def _predicates(features: Sequence[Feature]) -> str:
    """Return the tests of features as predicates, the slow ones last."""
    slow_last = sorted(features, key=lambda feature: feature.kind in _SLOW)
    return "".join(f"[{_whole_test(feature)}]" for feature in slow_last)


def _whole_test(feature: Feature) -> str:
    if feature.kind == "token" and feature.axis == "self":
        may_have = " or ".join(f"contains(@class, {literal(value)})" for value in feature.values)
        return f"{may_have}][{feature.test}"
    if feature.kind not in _SLOW or feature.axis != "self":
        return feature.test
    if not feature.values:
        return _place_test(feature)
    return " or ".join(fast_test(feature, value) for value in feature.values)


def _place_test(feature: Feature) -> str:
    """Return the test of a place among siblings that looks at no more of them than it must."""
    if feature.kind == "first":
        return "not(preceding-sibling::*[1])"
    if feature.kind == "last":
        return "not(following-sibling::*[1])"
    # The n-th among its siblings: there is one n - 1 places before it, and none n places before it.
    before = feature.distance - 1
    test = f"not(preceding-sibling::*[{feature.distance}])"
    return f"preceding-sibling::*[{before}] and {test}" if before else test
