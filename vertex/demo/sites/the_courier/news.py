"""Who writes for the Courier and about what, by hand; the rest is chance. All is invented."""

from __future__ import annotations

SECTIONS = [
    ("politics", "Politics"), ("city", "City"), ("business", "Business"), ("culture", "Culture"),
    ("science", "Science"), ("sport", "Sport"), ("travel", "Travel"),
]  # fmt: skip

AUTHORS = [
    "Zdeněk Řehoř", "Łucja Wąsik", "Ágnes Szűcs", "Jiří Čapek-Novák", "Božena Hrušková", "Andrei Țăranu", "Márton Őry",
    "Ewa Żółkiewska", "Matej Ďurica", "Vesna Šarić", "Thomas Müller", "Anna Lee", "Kryštof Ježek", "Zofia Śliwa", "Staff and agencies",
]  # fmt: skip

PLACES = [
    "Brno",
    "Łódź",
    "Győr",
    "Košice",
    "Plzeň",
    "Kraków",
    "Osijek",
    "Debrecen",
    "Ostrava",
    "Zlín",
]

TAGS = [
    "trams", "housing", "river", "elections", "climate", "football", "theatre", "railways", "budget", "schools",
    "museums", "heat wave", "start-ups", "beer", "bicycles", "EU funds", "chess", "wolves",
]  # fmt: skip

HEADLINES = [
    "{place} to {verb} its {thing} by {year}", "Why nobody in {place} wants the {thing}", "“{quote}”: {place} argues about its {thing}",
    "{number} days without a {thing}", "The {thing} that came back to {place}", "Council votes {score} against new {thing}",
    "How {place} learned to {verb} the {thing}", "{place} wins {score}, but loses its {thing}", "Inside the last {thing} of {place}",
    "Who pays for the {thing}? {place} does", "A {thing} for {number} million, and no one to {verb} it", "{thing} < {thing}: a {place} equation",
    "After the flood, {place} begins to {verb} its {thing} – and finds that the money is gone again",
]  # fmt: skip

KICKERS = ["Analysis", "Report", "Interview", "Background", "Portrait"]

GRAMMAR = {
    "place": PLACES,
    "verb": ["rebuild", "sell", "share", "count", "paint", "forget", "protect", "insure"],
    "thing": [
        "tram line",
        "town hall",
        "bridge",
        "archive",
        "market hall",
        "stadium",
        "night train",
        "observatory",
        "brewery",
        "library",
    ],
    "year": ["2026", "2027", "2030", "2035"],
    "number": ["three", "12", "31", "48", "97"],
    "score": ["3:1", "2:0", "21:19", "11:4"],
    "quote": [
        "We were never asked",
        "It is only concrete",
        "Ask me next year",
        "This is not Vienna",
    ],
    "lead": [
        "for {number} years the {thing} was taken for granted. Now {place} has to decide.",
        "a report seen by the Courier shows how {place} tried to {verb} its {thing}.",
        "the mayor calls it progress, the neighbours call the police.",
        "what began with a broken {thing} has become a question of principle.",
    ],
    "sentence": [
        "“{quote},” says {who}, who has lived next to the {thing} since {old}.",
        "the plan to {verb} the {thing} was first published in {old} and shelved {number} times.",
        "according to {source}, the costs have risen to {number} million euros.",
        "in {place}, a similar {thing} was closed after only {number} months.",
        "nobody in the ministry wanted to comment on the figures.",
        "{who} sees it differently: “{quote}.”",
        "the {thing} employs {number} people, most of them part-time.",
        "on Tuesday evening, some {number} residents met in the school gym.",
        "by {year}, the district wants to {verb} the whole quarter.",
        "the opposition speaks of a scandal, the coalition of a learning curve.",
        "experts point to {place}, where the {thing} was saved by volunteers.",
    ],
    "who": [
        "Jana Horáková, 71",
        "a tram driver",
        "the architect",
        "Mr. Kučera",
        "a councillor",
        "Piotr Gąsior",
        "the caretaker",
    ],
    "old": ["1968", "1989", "1993", "2004", "2011"],
    "source": [
        "court papers",
        "the auditors",
        "two people close to the talks",
        "a letter to the council",
    ],
    "comment": [
        "{quote}!",
        "I grew up there, the {thing} was always like that.",
        "wrong: it was {score} in {old}, look it up.",
        "who writes this? The {thing} is in {place}, not here.",
        "good piece. More of this, less {thing}.",
        "and what will it cost in {year}?",
    ],
    "step": [
        "chop {ingredient} and {ingredient} finely.",
        "leave the dough in a warm place for {number} minutes.",
        "add {ingredient}, stir and taste.",
        "bake until golden, about {number} minutes.",
        "serve with {ingredient} and a cold beer.",
    ],
    "ingredient": [
        "dill",
        "sour cream",
        "two onions",
        "poppy seeds",
        "smoked plums",
        "caraway",
        "a pinch of salt",
        "goose fat",
    ],
}

RECIPES = [
    "Svíčková of Aunt Věra", "Pierogi with plums", "Lángos at midnight", "Kulajda", "Barszcz for Christmas Eve", "Fish soup from Szeged", "Bramboráky",
    "Żurek in bread", "Poppy seed strudel", "Halušky with bryndza", "Gulyás, slow", "Kremówka", "Cherry buchty", "Goose on St Martin’s Day",
    "Chimney cake", "Pickled cheese", "Bigos for twelve", "Plum dumplings", "Cabbage pie", "Kofola granita", "Sour egg soup", "Rye honey cake",
]  # fmt: skip

READERS = [
    "kavárník",
    "Night Owl",
    "m. szabó",
    "Ostravak_1",
    "Ewa",
    "realist",
    "former subscriber",
    "Dr. Žižka",
    "anonymous pensioner",
]

HELP = [
    ("about", "About the Courier"), ("contact", "Contact"), ("subscribe", "Subscribe"), ("imprint", "Imprint"),
    ("privacy", "Privacy"), ("ethics", "How we work"), ("jobs", "Work with us"),
]  # fmt: skip
