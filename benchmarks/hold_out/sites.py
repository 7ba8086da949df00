"""The kinds of sites: each function makes one page, with what makes real sites hard."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.hold_out.pages import MONTHS, TOWNS, WORDS, Maker, cluster_of, json_ld, v
from benchmarks.rule_learning import LabelledCluster


def clusters() -> Iterator[LabelledCluster]:
    """Yield the clusters, with what is said about each."""
    yield cluster_of("recipes", recipe, multi=["ingredient", "step"])
    yield cluster_of("events", event, multi=["performer"])
    yield cluster_of("hotels", hotel, multi=["room", "room_price", "amenity"])
    yield cluster_of("real estate", estate, multi=["feature"])
    yield cluster_of("library", book, multi=["author", "subject"])
    yield cluster_of("cars", car, multi=["equipment"])
    yield cluster_of("profiles", profile, multi=["skill"])
    yield cluster_of("associations", association, multi=["hours"])


def _page(title: str, head: str, body: str, brand: str) -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title} | "
        f"{brand}</title>{head}</head><body>"
        f"<header><a href=/>{brand}</a><nav><a href=/new>New</a> <a "
        "href=/all>All</a></nav></header>"
        f"{body}<footer><p>&copy; {brand}</p><a href=/terms>Terms</a></footer></body></html>"
    )


def recipe(make: Maker, number: int) -> str:
    """Make a recipe: times in a line, rating only in JSON-LD, sponsored pages in another layout."""
    title, author = make.title(), make.person()
    ingredients = [
        f"{make.number(1, 500)} {make.chance.choice(['g', 'ml', 'tbsp'])} {make.words(1, 2)}"
        for _ in range(make.number(3, 9))
    ]
    rating = f"{make.number(20, 50) / 10}"
    data = {
        "@type": "Recipe",
        "name": title,
        "aggregateRating": {"ratingValue": v("rating", rating), "count": make.number(3, 99)},
    }
    times = f"Prep {v('prep_time', f'{make.number(5, 40)} min')} · "
    if make.is_so(0.7):
        times += f"Cook {v('cook_time', f'{make.number(10, 90)} min')} · "
    times += f"Serves {v('servings', make.number(1, 8))}"
    cook = v("author", author) if number % 3 == 0 else f"<a href=/cook/1>{v('author', author)}</a>"
    by = f"<p class=by>by {cook} on {make.number(1, 28)} May</p>" if make.is_so(0.8) else ""
    items = "".join(f"<li>{v('ingredient', ingredient)}</li>" for ingredient in ingredients)
    steps = "".join(
        f"<li data-truth=step>{make.words(3, 6)} <b>{make.words(1, 2)}</b> {make.sentence()}</li>"
        for _ in range(make.number(2, 6))
    )
    related = "".join(
        f"<div class=teaser><h3><a href=/r/{n}>{make.title()}</a></h3><p>by "
        f"{make.person()}</p></div>"
        for n in range(make.number(2, 4))
    )
    tip = (
        f"<div class=tip><h2>Tip</h2><p>{v('tip', make.sentence())}</p></div>"
        if make.is_so(0.4)
        else ""
    )
    if number % 5 == 4:
        body = (
            "<div class=sponsored><span>Sponsored</span></div><div class=story><h2 "
            f"class=head>{v('name', title)}</h2>"
            f"<div class=meta>{times}</div>{by}<h3>You need</h3><ul>{items}</ul><h3>How "
            f"to</h3><ol>{steps}</ol>{tip}</div>"
        )
    else:
        body = (
            f"<main><h1>{v('name', title)}</h1>{by}<p class=times>{times}</p><div "
            "class=cols><section><h2>Ingredients</h2>"
            f"<ul>{items}</ul></section><section><h2>Method</h2><ol>{steps}</ol></section></div>{tip}</main>"
        )
    return _page(
        title, json_ld(data), f"{body}<aside><h2>You may like</h2>{related}</aside>", "Spoon"
    )


def event(make: Maker, _number: int) -> str:
    """Make an event: the old price beside the new, performers in one text, an address in lines."""
    title, day = make.title(), f"{make.number(1, 28)} {make.chance.choice(MONTHS)} 2024"
    price = make.number(8, 60)
    cost = v("price", "Free") if make.is_so(0.2) else v("price", f"{price} EUR")
    was = (
        f" (was {v('old_price', f'{price + make.number(2, 20)} EUR')})"
        if "EUR" in cost and make.is_so(0.4)
        else ""
    )
    rows = (
        "<dt>When</dt><dd><time datetime='"
        f"{v('iso_date', f'2024-{make.number(10, 12)}-{make.number(10, 28)}')}'>{v('date', day)}"
        f"</time>, {v('start', f'{make.number(17, 21)}:30')}</dd>"
    )
    if make.is_so(0.5):
        rows += f"<dt>Doors</dt><dd>{v('doors', f'{make.number(16, 19)}:00')}</dd>"
    street = f"{make.number(1, 99)} {make.title(1, 1)} Street"
    rows += (
        f"<dt>Where</dt><dd><a href=/v/1>{v('venue', make.title(1, 2) + ' Hall')}</a><br>"
        f"{v('street', street)}<br>{v('town', make.chance.choice(TOWNS))}</dd>"
    )
    rows += f"<dt>Tickets</dt><dd>Price: {cost}{was}</dd>"
    if make.is_so(0.6):
        rows += f"<dt>Age</dt><dd>{v('age', f'{make.number(6, 18)}+')}</dd>"
    performers = ", ".join(v("performer", make.person()) for _ in range(make.number(1, 4)))
    more = "".join(
        f"<li class=ev><h3>{make.title()}</h3><dl><dt>When</dt><dd><time "
        f"datetime=2024-01-01>{make.number(1, 28)} May 2024</time></dd></dl></li>"
        for _ in range(3)
    )
    text = "".join(
        f"<p>{make.sentence()} <em>{make.words(1, 3)}</em> {make.sentence()}</p>"
        for _ in range(make.number(1, 3))
    )
    body = (
        f"<div class=ev><h1>{v('name', title)}</h1><p class=with>With {performers}</p><dl "
        f"class=facts>{rows}</dl>"
        f"<div class=about data-truth=description>{text}</div></div><h2>More "
        f"events</h2><ul>{more}</ul>"
    )
    return _page(title, f"<meta property=og:title content='{title}'>", body, "Night Out")


def hotel(make: Maker, _number: int) -> str:
    """Make a hotel: nested offers, two times a cell, stars in an attribute, phone behind a link."""
    name = f"Hotel {make.title(1, 2)}"
    rooms = "".join(
        f"<tr><td class=r><b>{v('room', kind)}</b><br><small>{make.number(12, 40)} m²</small></td>"
        f"<td>{make.number(1, 4)} guests</td><td class=p>EUR "
        f"{v('room_price', make.number(60, 300))}<span> / night</span></td></tr>"
        for kind in make.some(["Single", "Double", "Twin", "Suite", "Family room"], 1, 4)
    )
    amenities = "".join(
        f"<li><i class=ic></i>{v('amenity', each)}</li>"
        for each in make.some(["Pool", "Sauna", "Parking", "Bar", "Lift", "Garden", "Gym"], 2, 6)
    )
    phone = f"+44 {make.number(100, 999)} {make.number(1000, 9999)}"
    contact = f"<p><a href='tel:{phone}'>{v('phone', phone)}</a></p>" if make.is_so(0.7) else ""
    pets = (
        "<p><strong>Pets:</strong> "
        f"{v('pets', make.chance.choice(['allowed', 'not allowed', 'on request']))}</p>"
        if make.is_so(0.5)
        else ""
    )
    review = (
        f"<div class=sc><b>{v('score', make.number(60, 99) / 10)}</b> from "
        f"{v('n_reviews', make.number(5, 900))} reviews</div>"
        if make.is_so(0.8)
        else ""
    )
    body = (
        "<div class='stars' "
        f"title='{v('stars', f'{make.number(1, 5)} stars')}'></div><h1>{v('name', name)}</h1>"
        "<p "
        f"class=addr><span>{v('street', f'{make.number(1, 99)} {make.title(1, 1)} Road')}</span>, "
        f"<span>{v('postcode', make.number(10000, 99999))}</span> "
        f"<span>{v('town', make.chance.choice(TOWNS))}</span></p>{review}"
        f"<div class=from>from <b>EUR {v('price', make.number(60, 200))}</b> per night</div>"
        f"<h2>Rooms</h2><table>{rooms}</table><h2>Amenities</h2><ul "
        f"class=am>{amenities}</ul><h2>Good to know</h2>"
        f"<p>Check-in from {v('check_in', f'{make.number(13, 16)}:00')}, "
        f"check-out until {v('check_out', f'{make.number(9, 12)}:00')}</p>{pets}"
        f"<h2>Contact</h2>{contact}<p class=txt>{make.sentence()}</p>"
    )
    return _page(name, "", body, "Stay")


def estate(make: Maker, number: int) -> str:
    """Make a flat: two label and value pairs a row, in changing order; sold ones lack the price."""
    title = f"{make.chance.choice(['Flat', 'House', 'Loft'])} in {make.chance.choice(TOWNS)}"
    is_sold = number % 4 == 3
    pairs = [
        ("Rooms", v("rooms", make.number(1, 7))),
        ("Area", v("area", f"{make.number(30, 200)} m²")),
        ("Built", v("year", make.number(1890, 2020))),
    ]
    heating = v("heating", make.chance.choice(["gas", "oil", "district"]))
    heating = f"<a href=/energy>{heating}</a>" if make.is_so(0.4) else heating
    optional = [
        ("Floor", v("floor", f"{make.number(0, 9)} of 9")),
        ("Heating", heating),
        ("Deposit", v("deposit", f"{make.number(1, 5)},000 EUR")),
    ]
    pairs += [pair for pair in optional if make.is_so(0.6)]
    cells = "".join(
        "<tr>"
        + "".join(f"<td>{label}</td><td>{value}</td>" for label, value in pairs[at : at + 2])
        + "</tr>"
        for at in range(0, len(pairs), 2)
    )
    price = (
        "<div class=sold>Sold</div>"
        if is_sold
        else f"<div class=pr>{v('price', f'{make.number(90, 900)},000 EUR')} <small>excl. "
        "fees</small></div>"
    )
    features = ", ".join(
        v("feature", each)
        for each in make.some(["balcony", "cellar", "lift", "garage", "garden"], 1, 4)
    )
    near = "".join(
        f"<div class=card><div class=pr>{make.number(90, 900)},000 "
        f"EUR</div><table><tr><td>Rooms</td><td>{make.number(1, 6)}</td></tr></table></div>"
        for _ in range(3)
    )
    body = (
        f"<h1>{v('name', title)}</h1>{price}<table "
        f"class=data>{cells}</table><h3>Equipment</h3><p>{features}</p>"
        f"<h3>Description</h3><p data-truth=description>{make.sentence()}<br>{make.sentence()}</p>"
        f"<div class=agent>Your contact: <b>{v('agent', make.person())}</b>, tel. "
        f"{v('phone', f'0{make.number(100, 999)}-{make.number(10000, 99999)}')}</div>"
        f"<h3>Near by</h3>{near}"
    )
    return _page(
        title,
        "<meta name=geo.position "
        f"content='{v('position', f'{make.number(10, 60)}.5;{make.number(1, 20)}.25')}'>",
        body,
        "Homes",
    )


def book(make: Maker, _number: int) -> str:
    """Make a book: singular and plural labels, values by line ends, parts of a publisher's line."""
    title, authors = make.title(2, 5), [make.person() for _ in range(make.number(1, 3))]
    rows = f"<tr><th>Title</th><td>{v('name', title)} / {' ; '.join(authors)}</td></tr>"
    label = "Author" if len(authors) == 1 else "Authors"
    marked_authors = "<br>".join(v("author", author) for author in authors)
    rows += f"<tr><th>{label}</th><td>{marked_authors}</td></tr>"
    rows += (
        f"<tr><th>Published</th><td>{v('place', make.chance.choice(TOWNS))} : "
        f"{v('publisher', make.title(1, 2) + ' Press')}, "
        f"{v('year', make.number(1950, 2023))}.</td></tr>"
    )
    if make.is_so(0.6):
        rows += f"<tr><th>Edition</th><td>{v('edition', f'{make.number(2, 5)}. ed.')}</td></tr>"
    rows += (
        f"<tr><th>Description</th><td>{v('pages', make.number(80, 700))} p. ; "
        f"{make.number(18, 30)} cm</td></tr>"
    )
    if make.is_so(0.7):
        isbn = f"978-0-{make.number(100000, 999999)}-{make.number(10, 99)}-1"
        rows += f"<tr><th>ISBN</th><td>{v('isbn', isbn)}</td></tr>"
    subjects = "".join(
        f"<li><a href=/s>{v('subject', each)}</a></li>" for each in make.some(WORDS, 1, 4)
    )
    rows += f"<tr><th>Subjects</th><td><ul>{subjects}</ul></td></tr>"
    copies = "".join(
        f"<tr><td>{make.chance.choice(TOWNS)} "
        f"branch</td><td>{make.number(100, 999)}.{make.number(1, 9)} "
        f"ADL</td><td>{make.chance.choice(['on shelf', 'on loan'])}</td></tr>"
        for _ in range(make.number(1, 4))
    )
    body = (
        f"<table class=rec>{rows}</table><h4>Copies</h4><table>"
        f"<tr><th>Branch</th><th>Shelf</th><th>Status</th></tr>{copies}</table>"
    )
    return _page(title, "", body, "City Library")


def car(make: Maker, _number: int) -> str:
    """Make a car: labels in list items' text, an old price beside the new, "n/a" for nothing."""
    title, price = f"{make.title(1, 1)} {make.number(100, 900)}", make.number(2, 60) * 500
    sale = f"<del>{price + 1500:,} EUR</del> " if make.is_so(0.3) else ""
    rows = [
        f"<li><strong>Mileage:</strong> {v('mileage', f'{make.number(5, 250)},000 km')}</li>",
        (
            "<li><strong>First used:</strong> "
            f"{v('first_used', f'{make.number(1, 12)}/{make.number(1998, 2023)}')}</li>"
        ),
        (
            "<li><strong>Fuel:</strong> "
            f"{v('fuel', make.chance.choice(['petrol', 'diesel', 'electric']))}</li>"
        ),
    ]
    if make.is_so(0.6):
        rows.append(f"<li><strong>Owners:</strong> {v('owners', make.number(1, 5))}</li>")
    if make.is_so(0.5):
        rows.append(
            f"<li><strong>Colour:</strong> {v('colour', make.chance.choice(WORDS))} metallic</li>"
        )
    make.chance.shuffle(rows)
    fitted = "".join(
        f"<span class=tag>{v('equipment', each)}</span> "
        for each in make.some(["ABS", "GPS", "Airbag", "Radio", "Tow bar"], 1, 4)
    )
    ads = "".join(
        f"<div class=ad><span class=price>{make.number(1, 60) * 500:,} "
        "EUR</span><ul><li><strong>Fuel:</strong> petrol</li></ul></div>"
        for _ in range(2)
    )
    seller = (
        f"<p>Sold by {v('seller', make.person())} in {v('town', make.chance.choice(TOWNS))} since "
        f"{make.number(2001, 2022)}</p>"
    )
    body = (
        f"<div id=top>{ads}</div><div id=offer><h1>{v('name', title)} <small>ref. "
        f"{v('reference', f'C{make.number(1000, 9999)}')}</small></h1>"
        f"<span class=price>{sale}<ins>{v('price', f'{price:,} EUR')}</ins></span>"
        f"<ul>{''.join(rows)}</ul><p>{fitted}</p>{seller}</div>"
    )
    return _page(title, "", body, "Wheels")


def profile(make: Maker, number: int) -> str:
    """Make a profile in generated classes, with labels after the values."""
    name = make.person()

    def div(kind: str, inner: str) -> str:
        return f'<div class="css-{sum(map(ord, kind)) * 7919 % 99991:x}k">{inner}</div>'

    stats = "".join(
        div("stat", f"<b>{value}</b><span>{label}</span>")
        for label, value, share in (
            ("followers", v("followers", make.number(3, 9000)), 1.0),
            ("projects", v("projects", make.number(1, 80)), 0.7),
            ("likes", v("likes", make.number(1, 700)), 0.5),
        )
        if make.is_so(share)
    )
    job = ""
    if make.is_so(0.8):
        role, company = v("role", make.title(1, 2)), v("company", make.title(1, 2) + " Ltd")
        job = div("line", f"{role} at {company}")
    place = div("line", f"<svg></svg>{v('town', make.chance.choice(TOWNS))}")
    skills = "".join(f"<a href=/k>{v('skill', each)}</a>" for each in make.some(WORDS, 1, 5))
    since = f"Member since {v('since', f'{make.chance.choice(MONTHS)} {make.number(2009, 2023)}')}"
    web = ""
    if make.is_so(0.6):
        website = v("website", f"https://{make.words(1, 1)}{number}.example/")
        web = div("line", f"<a rel=me href='{website}'>Website</a>")
    bio = div("bio", f"<p>{v('bio', make.sentence())}</p>") if make.is_so(0.7) else ""
    people = "".join(
        div("mini", f"{make.person()}<span>{make.number(1, 99)} followers</span>") for _ in range(3)
    )
    top = div("card", div("name", v("name", name)) + job + place + web + div("stats", stats) + bio)
    return _page(
        name, "", f"{top}{div('skills', skills)}{div('foot', since)}{div('people', people)}", "Folk"
    )


def association(make: Maker, _number: int) -> str:
    """Make an association of a German directory.

    It has headings with paragraphs, hours by the day, and a value in a meta element only.
    """
    name = f"{make.title(1, 2)} e.V."
    town, post = make.chance.choice(TOWNS), make.number(10000, 99999)
    parts = (
        f"<h3>Anschrift</h3><p>{v('street', f'{make.title(1, 1)}weg {make.number(1, 99)}')}<br>"
        f"{v('postcode', post)} {v('town', town)}</p>"
    )
    if make.is_so(0.7):
        parts += f"<h3>Vorstand</h3><p>{v('chair', make.person())}</p>"
    phone = f"0{make.number(30, 99)} / {make.number(10000, 99999)}"
    parts += f"<h3>Kontakt</h3><p>Tel.: {v('phone', phone)}"
    if make.is_so(0.6):
        parts += f"<br>Fax: {v('fax', f'0{make.number(30, 99)} / {make.number(10000, 99999)}')}"
    parts += (
        f"<br>E-Mail: <a href='mailto:x'>{v('mail', f'info@{make.words(1, 1)}.example')}</a></p>"
    )
    hours = "".join(
        f"<tr><td>{day}</td><td>"
        f"{v('hours', f'{make.number(8, 10)}:00 - {make.number(12, 18)}:00')}</td></tr>"
        for day in make.some(["Mo", "Di", "Mi", "Do", "Fr"], 1, 4)
    )
    parts += f"<h3>Zeiten</h3><table>{hours}</table>"
    if make.is_so(0.5):
        parts += (
            f"<h3>Mitglieder</h3><p>ca. {v('members', make.number(10, 900))} "
            f"(Stand {make.number(2015, 2023)})</p>"
        )
    head = f"<meta name=description content='{v('summary', make.sentence())}'>"
    body = (
        f"<div id=c><h2>Verzeichnis</h2><h1>{v('name', name)}</h1><p>Gegründet: "
        f"{v('founded', make.number(1880, 2010))}</p>{parts}</div>"
    )
    return _page(name, head, body, "Vereine")
