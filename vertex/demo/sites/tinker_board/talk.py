"""What tinkerers talk about, written by hand; the rest is chance."""

from __future__ import annotations

BOARDS = [
    ("motors", "Motors & drives"), ("printing", "3D printing"), ("radio", "Radio & antennas"), ("audio", "Tubes, amps & speakers"),
    ("clocks", "Clocks & watches"), ("solder", "Soldering, PCBs"), ("attic", "Found in the attic"),
]  # fmt: skip

TITLES = [
    "{thing} {fault} after {event}", "How do I {verb} a {thing}?", "[SOLVED] {thing} {fault}", "Which {thing} for {money}?",
    "{thing} vs. {thing} – your experience?", "Show off: my {adj} {thing}", "WTB: {thing}, any condition", "{thing} {fault}, please help!!!",
    "Is it safe to {verb} a {thing}?", "Datasheet for {part} in a {thing}", "Re: {thing} {fault}", "Today I learned: never {verb} a {thing} with {tool} & hope",
]  # fmt: skip

POLLS = [
    "Which {thing} would you {verb} first?",
    "How often do you {verb} your {thing}?",
    "Poll: {tool} or {tool}?",
    "{thing}: keep or {verb}?",
]

ANSWERS = [
    "Yes",
    "No",
    "Only on Sundays",
    "What is that?",
    "Ask my wife",
    "All of them",
    "Never > always",
]

GRAMMAR = {
    "thing": [
        "stepper motor",
        "tube radio",
        "cuckoo clock",
        "extruder",
        "lathe",
        "synthesizer",
        "turntable",
        "shortwave receiver",
        "alarm clock",
        "sewing machine",
        "oscilloscope",
        "model railway",
    ],
    "fault": [
        "hums",
        "won’t start",
        "smells of fish",
        "runs backwards",
        "loses steps",
        "is 5 min late",
        "blows the fuse",
        "gets too hot",
    ],
    "event": [
        "a thunderstorm",
        "the firmware update",
        "moving house",
        "a year in the garage",
        "my son’s visit",
    ],
    "verb": ["clean", "rewind", "re-cap", "ground", "open", "calibrate", "sell"],
    "adj": ["rebuilt", "tiny", "1957", "silent", "wooden", "half-finished"],
    "money": ["under 50 €", "£100", "less than $20", "free"],
    "part": ["L298N", "ECC83", "2N3055", "μA741", "LM317", "ULN2003A"],
    "tool": ["a hot-air gun", "pliers", "isopropyl", "a multimeter", "duct tape"],
    "sentence": [
        "my {thing} {fault} since {event}.",
        "I tried {tool}, then {tool}, nothing.",
        "measured 12.4 V at the {part}, should be 5 V.",
        "you should {verb} it first, then look at the {part}.",
        "don’t {verb} anything before you pulled the plug!",
        "paid {money} for it on a flea market in Žižkov.",
        "same here, mine {fault} too.",
        "see the manual, page 42: if <R12> gets hot, replace {part} & C3.",
        "thanks, that was it. The {part} was dead.",
        "in 1983 we used {tool} for that and we were happy.",
        "posted a picture on 1 April, nobody believed me.",
    ],
}

MEMBERS = [
    "ohmslaw", "Käthe_K", "rusty-nail", "DrSolder", "μFarad", "Grandpa Joe", "zündspule", "5V_tolerant", "Lena", "BigIron", "tick.tock", "Łukasz",
    "ampère", "nullpointer", "Mrs. Fix", "cold_joint", "ψ", "Old Bavarian", "relay42", "Sparks & Son", "N0CALL", "jigsaw", "flux", "Emil the Detective",
    "heatshrink", "Bodo", "tuesday", "pot-scrubber", "anode_rae", "Ravi", "torque", "quiet fan", "ESD", "weekend-warrior",
]  # fmt: skip

TOWNS = ["Brno", "Graz", "Leeds", "Århus", "Gent", "Ohio", "behind the oscilloscope", "—"]

TAGS = [
    "beginner",
    "mains voltage",
    "vintage",
    "mechanical",
    "firmware",
    "for sale",
    "diy",
    "safety",
    "paper manual",
    "pcb",
    "smoke",
    "measurement",
]

HELP = [("rules", "House rules"), ("faq", "Questions & answers"), ("markup", "How to format"), ("team", "The team"), ("contact", "Contact us"), ("history", "Twenty years of us")]  # fmt: skip

SIGNATURES = [
    "",
    "",
    "-- 73 de N0CALL",
    "-- It worked yesterday.",
    "-- Sent from my oscilloscope",
    "-- Posted: too often",
]
