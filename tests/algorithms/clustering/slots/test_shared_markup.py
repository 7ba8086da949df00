"""What the pages of a cluster share."""

from collections.abc import Sequence

from lxml import html

from clustering.algorithms.slots.page_texts import TextPage, read_texts
from clustering.algorithms.slots.shared_markup import (
    PlaceNumbers,
    SharedMarkup,
    first_labels_of_rows,
    learn_shared_markup,
)


def pages_of(bodies: Sequence[str]) -> list[TextPage]:
    return [read_texts(html.document_fromstring(f"<body>{body}")) for body in bodies]


def labels_of(bodies: Sequence[str]) -> set[str]:
    return {text for _, text in learn_shared_markup(pages_of(bodies)).labels}


def test_a_text_that_names_what_follows_is_a_label() -> None:
    bodies = [f"<dl><dt>Price<dd>{n} EUR<dt>Weight<dd>{n * 7} kg</dl>" for n in range(8)]

    assert labels_of(bodies) == {"Price", "Weight"}


def test_a_value_of_many_pages_is_no_label() -> None:
    genres = ["Drama", "Drama", "Drama", "Comedy", "Action", "War", "Drama", "Western"]
    bodies = [f"<p>Genre <a>{genre}</a> <i>{n}</i>" for n, genre in enumerate(genres)]

    assert labels_of(bodies) == {"Genre"}


def test_labels_of_rows_that_come_and_go_are_labels() -> None:
    rows = ["Colour", "Weight", "Width", "Depth", "Height"]
    bodies = [
        "<table><tr><th>Name<td>n"
        + "".join(f"<tr><th>{row}<td>{n} x" for k, row in enumerate(rows) if (n + k) % 3)
        + "</table>"
        for n in range(12)
    ]

    assert {"Name", *rows} == labels_of(bodies)


def test_what_is_popular_elsewhere_is_no_label_there() -> None:
    menu = "<ul>" + "".join(f"<li><a>{name}</a>" for name in ("Drama", "War", "Comedy")) + "</ul>"
    genres = ["Drama", "War", "Comedy", "Noir", "Western", "Opera"]
    bodies = [f"{menu}<h1>Film {n}</h1><b>{genre}</b>" for n, genre in enumerate(genres)]

    pages = pages_of(bodies)
    markup = learn_shared_markup(pages)
    places = {place for place, text in markup.labels if text == "Drama"}
    film_place = markup.place_numbers(pages[0])[pages[0].texts[-1].owner][0]

    assert film_place not in places
    assert len(places) == 1


def test_names_of_single_pages_are_no_part_of_a_place() -> None:
    bodies = [f'<div class="box page-{name}"><p>text' for name in ("a", "b", "c", "d")]
    pages = pages_of(bodies)

    markup = learn_shared_markup(pages)

    assert markup.names == {".box"}
    assert len({markup.place_numbers(page)[-1] for page in pages}) == 1


def test_a_place_from_the_last_id_on_forgets_what_is_above() -> None:
    pages = pages_of(["<div><div id=main><p>a</p></div></div>", "<div id=main><p>a</p></div>"])
    markup = SharedMarkup({"#main"})

    (place, from_id), (other_place, other_from_id) = (
        markup.place_numbers(page)[-1] for page in pages
    )

    assert place != other_place
    assert from_id == other_from_id


def test_steps_of_a_place_are_told_from_its_end() -> None:
    places = PlaceNumbers()
    place = places.below(places.below(places.below(-1, "html"), "body"), "p")

    assert places.steps(place, 2) == ("p", "body")
    assert places.steps(place, 9) == ("p", "body", "html")


def test_the_first_label_of_a_row_serves_the_rows_around_it() -> None:
    page = pages_of(["<table><tr><td><p>Size<td>3<td>Colour</table>"])[0]
    is_label = [text.text != "3" for text in page.texts]

    labels = first_labels_of_rows(page, is_label)

    tags = {page.elements[row].tag: label.text for row, label in labels.items()}
    assert tags == {"p": "Size", "tr": "Size"}


def test_what_nearly_all_pages_show_is_furniture() -> None:
    markup = learn_shared_markup(pages_of([f"<p>Map it</p><p>{n}</p>" for n in range(5)]))

    assert {text for _, text in markup.furniture} == {"Map it"}


def test_the_words_of_labels_are_labels_in_a_layout_of_fewer_pages_too() -> None:
    usual = [f"<table><tr><th>Agent:<td>Agent {n}</table>" for n in range(12)]
    other = [f"<div><b>Agent:</b><i>Agent {n}</i></div>" for n in range(3)]
    pages = [
        read_texts(html.document_fromstring(body), n) for n, body in enumerate([*usual, *other])
    ]
    markup = learn_shared_markup(pages)

    assert ["Agent:", "Agent:"] == [text for _, text in markup.labels]
