"""Towns, businesses and what people say about them, written by hand; the rest is chance."""

from __future__ import annotations

TOWNS = [
    ("Larkhaven", "04610"), ("Mill Cove", "04613"), ("St. Aubin", "04617"), ("Gull Point", "04622"),
    ("Port Désert", "04629"), ("Upper Fennick", "04634"), ("Tanner’s Reach", "04640"), ("Old Quay", "04641-1203"),
]  # fmt: skip

STREETS = ["Main Street", "Harbor Road", "Church Lane", "Old Mill Road", "Ocean Avenue", "Rue de la Gare", "Cannery Row", "Schoolhouse Hill", "Route 9", "Pier Street", "Quarry Road"]  # fmt: skip

CATEGORIES = [
    # number, title, nouns
    (1, "Restaurants & Cafés", ["Grill", "Café", "Diner", "Chowder House", "Trattoria"]),
    (2, "Bakeries", ["Bakery", "Pâtisserie", "Bread Co."]),
    (3, "Hardware & Garden", ["Hardware", "Garden Center", "Tool & Paint"]),
    (4, "Doctors & Dentists", ["Family Practice", "Dental Office", "Eye Clinic"]),
    (5, "Auto & Boat Repair", ["Garage", "Marine Repair", "Tire & Brake"]),
    (6, "Books & Music", ["Books", "Records", "Music Shop"]),
    (7, "Hair & Beauty", ["Barber Shop", "Salon", "Nail Studio"]),
    (8, "Lawyers & Notaries", ["Law Office", "Notary", "& Partners LLP"]),
    (9, "Pets & Vets", ["Veterinary Clinic", "Pet Supply", "Kennels"]),
    (10, "Sports & Outdoors", ["Bait & Tackle", "Bike Shop", "Kayak Rental"]),
]  # fmt: skip

STAY_NOUNS = ["Inn", "Motel", "Bed & Breakfast", "Guest House", "Cabins", "Hotel"]

OWNERS = [
    "Ambrose", "Babineau’s", "Captain Nat’s", "Dahlgren", "Étienne’s", "Fogarty", "Golden Herring", "Haskell & Sons", "Ice House", "Jørgensen",
    "Kittredge", "Lobster Pot", "Müller’s", "North Light", "O’Malley’s", "Pelletier", "Quarterdeck", "Red Barn", "Sea Glass", "Three Pines",
    "Union", "Violette’s", "Windlass", "Yankee", "Zweig", "4th Street", "Ca\u00f1on", "Blue Door", "“The Other”", "Twelve O’Clock",
]  # fmt: skip

PAYMENTS = ["Cash", "Visa", "MasterCard", "American Express", "Check", "Diners Club"]

HOURS = [
    ["Mon–Fri 8:00 am – 5:00 pm", "Sat 9:00 am – 1:00 pm"],
    ["Tue–Sun 11:30 am – 10:00 pm"],
    ["Mon, Wed, Fri 9:00 am – 12:00 noon", "Thu 2:00 pm – 7:00 pm", "and by appointment"],
    ["daily 6:00 am – 2:00 pm"],
    ["Mon–Sat 7:00 am – 6:00 pm", "Sun closed", "Holidays 8:00 am – noon"],
]

ROOMS = [
    "Single, shower",
    "Double, sea view",
    "Twin",
    "Suite with fireplace",
    "Family room (5 beds)",
    "Attic room",
]

GRAMMAR = {
    "about": [
        "family run since {year}, we are known for {good} and {good}.",
        "you find us {where}; parking is {parking}.",
        "ask for {person} if you want {good}.",
        "{n} years in the same house and still {mood}.",
        "we speak English, Français and a little Dansk.",
        "new customers get ${money} off their first visit.",
        "the best {good} this side of the bay, says the {paper}.",
    ],
    "year": ["1891", "1926", "1948", "1963", "1979", "1994", "2001"],
    "good": [
        "honest prices",
        "fast service",
        "blueberry pie",
        "clean work",
        "good advice",
        "a quiet corner",
        "strong coffee",
        "free delivery",
    ],
    "where": [
        "next to the fire station",
        "behind the post office",
        "across from the pier",
        "two doors from the bank",
        "on the hill above the harbor",
    ],
    "parking": ["free", "in the rear", "hard in July", "$2.00 an hour"],
    "person": ["Marge", "Big Jim", "Mr. Dahlgren", "Aline", "the owner"],
    "n": ["12", "25", "33", "40", "51"],
    "mood": ["smiling", "at it", "not tired", "learning"],
    "money": ["5", "10", "15"],
    "paper": ["Bay Courier", "Larkhaven Log", "Sunday Herring"],
    "comment": [
        "went there on {day}, {verdict}.",
        "{good} indeed, and {good} too.",
        "called (207) 555-0199 by mistake, they were nice about it!",
        "a bit {flaw}, but {verdict}.",
        "our {kin} goes there every {day}.",
    ],
    "day": ["Monday", "Friday", "Saturday", "New Year’s Day"],
    "verdict": [
        "would go again",
        "never again",
        "the kids loved it",
        "five stars from me",
        "you get what you pay for",
    ],
    "flaw": ["slow", "loud", "pricey", "dark inside"],
    "kin": ["aunt", "dog", "whole crew", "neighbor"],
    "event": [
        "bring {thing} and {thing}.",
        "admission ${money}.00, children free.",
        "in case of rain we meet {where}.",
        "the {paper} will be there to take pictures.",
        "{person} opens the evening with a few words.",
    ],
    "thing": [
        "a folding chair",
        "warm clothes",
        "a flashlight",
        "an instrument",
        "something to share",
    ],
}

EVENTS = ["Lobster Boat Race", "Pancake Supper", "Contra Dance", "Town Meeting", "Blueberry Festival", "Organ Concert", "Fire Department Barbecue", "Book Sale", "Harbor Clean-up", "Christmas Pageant"]  # fmt: skip

VISITORS = [
    "Dot P.",
    "Fred (Ohio)",
    "Anonymous",
    "Mme. Roy",
    "sailor42",
    "The Hendersons",
    "K. Jørgensen",
    "A local",
]

HELP = [
    (1, "About this guide"), (2, "List your business"), (3, "Advertise"), (4, "How we check ratings"),
    (5, "Contact the editors"), (6, "Links"), (7, "Getting here by ferry"), (8, "Privacy"),
]  # fmt: skip
