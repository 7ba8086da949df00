"""What the shop sells, written by hand; the rest is chance."""

from __future__ import annotations

CATEGORIES = [
    # slug, title, kind of drawing, nouns, price from, price to, specifications
    ("tents", "Tents", "tent", ["Tent", "Tunnel Tent", "Bivi"], 14900, 79900, ["Sleeps", "Weight", "Waterhead"]),
    ("backpacks", "Backpacks", "pack", ["Backpack", "Daypack", "Rucksack"], 4900, 32900, ["Volume", "Weight", "Back length"]),
    ("sleeping-bags", "Sleeping bags", "bag", ["Sleeping Bag", "Quilt"], 8900, 54900, ["Comfort", "Weight", "Filling"]),
    ("boots", "Boots & shoes", "boot", ["Boots", "Approach Shoes", "Trail Shoes"], 7900, 38900, ["Sole", "Weight", "Upper"]),
    ("jackets", "Jackets", "jacket", ["Jacket", "Shell", "Anorak"], 9900, 64900, ["Membrane", "Weight", "Fit"]),
    ("stoves", "Stoves & pots", "pot", ["Stove", "Pot Set", "Kettle"], 1900, 18900, ["Fuel", "Weight", "Boils a litre in"]),
    ("lights", "Lights", "lamp", ["Headlamp", "Lantern"], 1900, 14900, ["Output", "Weight", "Battery"]),
    ("ropes", "Ropes & slings", "rope", ["Rope", "Half Rope", "Sling Pack"], 2900, 26900, ["Diameter", "Weight", "Length"]),
    ("poles", "Poles & axes", "pole", ["Trekking Poles", "Ice Axe"], 3900, 21900, ["Shaft", "Weight", "Length"]),
    ("bottles", "Bottles & flasks", "bottle", ["Bottle", "Vacuum Flask", "Water Bladder"], 900, 5900, ["Volume", "Weight", "Material"]),
]  # fmt: skip

SPECIFICATIONS = {
    "Sleeps": ["1", "2", "2–3", "4"],
    "Waterhead": ["3,000 mm", "5,000 mm", "8,000 mm"],
    "Volume": ["0.75 l", "1 l", "24 l", "38 l", "45 + 10 l", "65 l"],
    "Back length": ["44–52 cm", "adjustable", "48 cm"],
    "Comfort": ["-2 °C", "-9 °C", "+4 °C", "-21 °C"],
    "Filling": ["goose down, 700 cuin", "recycled polyester", "duck down, 650 cuin"],
    "Sole": ["rubber, resolable", "Grip 5 rubber", "stiff, fits crampons"],
    "Upper": ["nubuck", "suede & mesh", "full-grain leather"],
    "Membrane": ["none", "3-layer", "2.5-layer, 20,000 mm"],
    "Fit": ["regular", "slim", "wide"],
    "Fuel": ["gas", "petrol & alcohol", "multi-fuel"],
    "Boils a litre in": ["3 min 10 s", "4 min", "5 min 30 s"],
    "Output": ["250 lm", "400 lm", "900 lm"],
    "Battery": ["3 × AAA", "USB-C, 2,000 mAh", "18650"],
    "Diameter": ["7.9 mm", "8.6 mm", "9.5 mm", "10.1 mm"],
    "Length": ["60 m", "110–130 cm", "70 m", "53 cm"],
    "Shaft": ["aluminium", "carbon", "forged steel"],
    "Material": ["steel 18/8", "Tritan", "TPU"],
}

BRANDS = [
    ("Firnline", "Innsbruck", 1987), ("Kargrat", "Bern", 1954), ("Öland & Søn", "Borgholm", 1921),
    ("Val d’Ombre", "Chamonix", 1973), ("Nordwand Works", "Grindelwald", 2006), ("Pika Trail", "Boulder", 2014),
    ("Grauhorn", "Bozen", 1962), ("Cumulo", "Bilbao", 1999), ("Lumen Peak", "Brno", 2011), ("Tatra Švih", "Poprad", 1995),
]  # fmt: skip

MODELS = [
    "Arête", "Bergschrund", "Col du Vent", "Drift", "Edelgrat", "Fjell", "Gipfel", "Hochtour", "Isba", "Jochwind",
    "Kar", "Larix", "Moraine", "Névé", "Ombre", "Piz", "Querung", "Refugio", "Serac", "Talus", "Ultra", "Verglas",
    "Windloch", "Xero", "Yeti Lite", "Zirbe", "Trail Runner", "Night Shift", "Long Way Home", "M<10>",
]  # fmt: skip

COLOURS = [
    ("Slate", "#4b5563"), ("Moss", "#5b7042"), ("Signal red", "#d0342c"), ("Glacier", "#7fb7d6"), ("Ochre", "#c98a2b"),
    ("Night blue", "#1f2f57"), ("Alpenglow", "#e58b76"), ("Black", "#222222"), ("Snow", "#e6e9ec"),
]  # fmt: skip

TAGS = ["ultralight", "winter", "vegan", "women", "kids", "recycled", "made in Europe", "repairable", "via ferrata", "hut to hut", "new", "outlet"]  # fmt: skip

AVAILABILITY = [
    "In stock",
    "In stock",
    "In stock",
    "Only 3 left",
    "Ships in 5–7 days",
    "Out of stock",
]

GRAMMAR = {
    "sentence": [
        "the {part} is {quality} and {quality}, so it {promise}.",
        "made for {trip}, it {promise} even when {trouble}.",
        "{crew} asked for {wish}; we listened.",
        "after {number} seasons on our own {part}s we know that it {promise}.",
        "a {quality} {part} keeps things simple when {trouble}.",
        "it packs down to the size of {thing} and weighs less than {thing}.",
        "for {trip} we recommend one size up.",
        "all seams are {treated} by hand; spare parts cost less than €5.00.",
    ],
    "part": ["zip", "frame", "lid", "shell", "strap", "buckle", "seam", "lining", "grip"],
    "quality": [
        "light",
        "quiet",
        "sturdy",
        "breathable",
        "stiff",
        "soft",
        "well-made",
        "weather-proof",
        "repairable",
    ],
    "promise": [
        "lasts for years",
        "keeps you dry",
        "never gets in the way",
        "carries like half its weight",
        "does what it should",
        "can be mended on the way",
    ],
    "trip": [
        "hut-to-hut weeks",
        "a night on the ridge",
        "ski tours above 3,000 m",
        "Sunday walks",
        "the long way round",
    ],
    "trouble": [
        "the weather turns",
        "fingers are cold",
        "the path is gone",
        "the light fades",
        "it rains for a week",
    ],
    "crew": [
        "mountain guides",
        "hut wardens",
        "our testers",
        "rescue teams",
        "two customers from Århus",
    ],
    "wish": [
        "a bigger pocket",
        "less noise in the wind",
        "a cord one can find with gloves on",
        "colours that show",
    ],
    "number": ["three", "seven", "twelve", "nineteen"],
    "thing": ["a loaf of bread", "a paperback", "two apples", "a pair of socks", "an espresso pot"],
    "treated": ["taped", "sewn twice", "waxed", "bonded"],
    "review": [
        "took it on {trip} and it {promise}.",
        "the {part} is {quality}, the {part} could be better.",
        "bought it for €{paid} elsewhere, should have come here first.",
        "sent it back once, the second one {promise}.",
        "my partner says it is the size of {thing}. True.",
        "perfect when {trouble}.",
        "expected more for the price; the {part} is not {quality} at all.",
    ],
    "paid": ["89.00", "129.00", "59.90", "210.00"],
    "advice": [
        "start with the {part}: if it is not {quality}, nothing else helps when {trouble}.",
        "for {trip} take half of what you planned, and {thing}.",
        "wash it by hand, dry it in the shade and store it loosely.",
        "{crew} taught us to check every {part} before leaving.",
        "if {trouble}, turn round; the mountain stays where it is.",
        "a {quality} {part} is worth more than a new one.",
        "write the date of purchase inside; after {number} years have a look at it.",
    ],
}

GUIDES = [
    "How to choose a tent", "Waxing leather boots", "Packing for a hut week", "Reading an avalanche bulletin",
    "Down or synthetic?", "The right rope length", "Sharpening an ice axe", "Washing a membrane jacket",
    "Cooking above 2,500 m", "First aid for blisters", "Sleeping warm at -10 °C", "Repairing a zip on the way",
    "Poles: why, when, how long", "A headlamp is not a toy", "Glacier travel for three", "With children to the hut",
    "Storing a sleeping bag", "What “waterproof” means", "Layering without sweating", "Your first via ferrata",
    "Tea, soup & morale", "Compass before phone", "Winter camping on a small budget", "When to retire a harness",
]  # fmt: skip

HELP = [
    ("shipping", "Shipping and costs"), ("returns", "Returns within 100 days"), ("payment", "Ways to pay"),
    ("sizes", "Finding your size"), ("repairs", "Repair workshop"), ("gift-cards", "Gift cards"),
    ("about", "About Alpine Shop"), ("contact", "Contact"),
]  # fmt: skip

REVIEWERS = [
    "Jana", "Mikkel", "hüttenfee", "Old Tom", "S. Okafor", "Béatrice", "gipfel_77", "R. Lindqvist", "Paweł", "Inés",
    "Nobody <3 rain", "Dr. H. Vogel", "Aoife", "Kenji", "tea & rope",
]  # fmt: skip

SETS = ["Weekend", "First Night Out", "Winter", "Glacier", "Family", "Light & Fast", "Hut Week", "Kitchen", "Storm", "Long Trail", "Basecamp"]  # fmt: skip
