"""Data slots as people see them."""

from __future__ import annotations

from lxml import html

from clustering.algorithms.slots.fields import FoundField, find_fields, finders_of

N_PAGES = 8


def film(n: int) -> str:
    actors = "".join(f"<li>Actor {n}{k}</li>" for k in range(1 + n % 3))
    tagline = f"<p class='tagline'>It is the year {n}</p>" if n % 2 else ""
    extra = "<main><section><div><ul class='cast'><li>Extra 5</li></ul></div></section></main>"
    extra = extra if n == 5 else ""
    return (
        f"<html><body><h1>Film {n}</h1>{tagline}<table>"
        f"<tr><th>Director</th><td>Director {n}</td></tr>"
        f"<tr><th>Budget</th><td>${n},500,000</td></tr></table>"
        f"<h2>Cast</h2><section><div><ul class='cast'>{actors}</ul></div></section>"
        f"<span itemprop='duration'>{90 + n} min</span>{extra}"
        "<div class='footer'>All rights reserved</div></body></html>"
    )


def films() -> list[FoundField]:
    return find_fields(finders_of([html.document_fromstring(film(n)) for n in range(N_PAGES)]))


def shown_by_name() -> dict[str, FoundField]:
    return {field.name: field for field in films() if not field.folded_into}


def test_a_field_is_called_by_its_label_by_what_the_page_declares_or_by_its_place() -> None:
    shown = shown_by_name()
    assert ("Director 0", "Director 1") == shown["director"].examples[:2]
    assert ("90 min", "91 min") == shown["duration"].examples[:2]
    assert ("It is the year 1",) == shown["tagline"].examples[:1]


def test_it_has_the_type_of_most_of_its_texts() -> None:
    shown = shown_by_name()
    assert ("price", "text") == (shown["budget"].type, shown["director"].type)


def test_what_some_pages_lack_and_what_pages_show_several_times_stays() -> None:
    fields = films()
    tagline = next(field for field in fields if field.examples[0] == "It is the year 1")
    cast = next(field for field in fields if field.is_multi)
    assert (0.5, False) == (tagline.slot.fill, tagline.is_multi)
    assert ["Actor 20", "Actor 21", "Actor 22"] == cast.values(cast.slot.values(2))
    assert ["It is the year 1"] == tagline.values(tagline.slot.values(1))


def test_slots_of_the_same_texts_are_folded_into_the_one_that_is_shown_first() -> None:
    fields = films()
    shown = [field for field in fields if not field.folded_into]
    folded = fields[len(shown) :]
    by_identifier = {field.identifier: field for field in shown}

    assert folded
    for field in folded:  # what is folded comes last, and says where its texts are to be seen
        over = by_identifier[field.folded_into]
        assert set(field.slot.values(2)) & set(over.slot.values(2)) or not field.slot.values(2)
    examples = [field.examples for field in shown]
    assert 1 == examples.count(next(f.examples for f in shown if f.name == "director"))


def test_what_most_pages_show_comes_first() -> None:
    shown = list(shown_by_name())
    assert shown.index("director") < shown.index("tagline")


def test_names_and_identifiers_are_unique_and_the_same_for_the_same_pages() -> None:
    fields, again = films(), films()
    assert len(fields) == len({field.name for field in fields})
    assert len(fields) == len({field.identifier for field in fields})
    assert [(f.name, f.identifier) for f in fields] == [(f.name, f.identifier) for f in again]


def test_pages_without_anything_that_varies_have_no_fields() -> None:
    pages = [html.document_fromstring("<p>Hello</p>") for _ in range(3)]
    assert [] == find_fields(finders_of(pages))


class TestReadings:
    def fields(self, *bodies: str) -> list[FoundField]:
        return find_fields(finders_of([html.document_fromstring(body) for body in bodies]))

    def test_the_paragraphs_of_a_text_are_one_value_and_one_by_one_another_reading(self) -> None:
        sentence = "A sentence of which the page {} shows several, all of them long and different."
        bodies = [
            f"<div id=text><p>{sentence.format(n)}</p><p>{sentence.format(-n)}</p></div>"
            for n in range(1, 6)
        ]
        joined = next(field for field in self.fields(*bodies) if field.reading == "joined")
        apart = next(field for field in self.fields(*bodies) if field.folded_into)

        value = f"{sentence.format(1)} {sentence.format(-1)}"
        assert ("", False, value) == (joined.folded_into, joined.is_multi, joined.examples[0])
        assert (joined.identifier, True) == (apart.folded_into, apart.is_multi)

    def test_what_is_counted_is_a_number_and_what_has_a_unit_a_text(self) -> None:
        bodies = [f"<b class=n>{n} comments</b><i class=w>{n} kg</i>" for n in range(2, 8)]
        shown = {f.reading: f for f in self.fields(*bodies) if not f.folded_into}

        assert ("number", ("2", "3")) == (shown["number"].type, shown["number"].examples[:2])
        assert "2 kg" == shown["texts"].examples[0]
        assert ["7"] == shown["number"].values(["7 comments"])

    def test_images_are_fields_by_their_addresses(self) -> None:
        bodies = [
            f"<img src=logo.png><h1>Thing {n}</h1><p><img class=photo src=/{n}.jpg></p>"
            for n in range(4)
        ]
        image = next(field for field in self.fields(*bodies) if field.is_image)
        assert ("image", "photo", ("/0.jpg", "/1.jpg")) == (
            image.type,
            image.name,
            image.examples[:2],
        )
