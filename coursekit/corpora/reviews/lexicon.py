"""Lexicon of the synthetic reviews: opinion words by strength, and topics.

In templates, {slots} are filled at random. A star marks a word that decides the verdict, provided
that the sentence states the writer's own opinion.
"""

from __future__ import annotations

from dataclasses import dataclass

# Opinion words. None of them is reserved for verdicts: all occur in every kind of sentence. A word
# listed twice is drawn twice as often.
GREAT = (
    *("wonderful", "excellent", "brilliant", "superb", "great", "marvellous", "splendid"),
    *("fantastic", "outstanding"),
)
GOOD = (
    *("good", "good", "nice", "lovely", "pleasant", "fine", "charming", "decent", "agreeable"),
    "satisfying",
)
BAD = (
    *("bad", "bad", "dull", "poor", "boring", "weak", "tedious", "unpleasant", "tiresome"),
    "disappointing",
)
AWFUL = (
    *("terrible", "awful", "horrible", "dreadful", "ghastly", "atrocious", "abysmal"),
    *("appalling", "miserable"),
)

# Phrases after "it was", by rating. Negation reverses a word; "at all" does not reverse it again.
PHRASES: dict[int, tuple[str, ...]] = {
    5: ("*{great}", "*absolutely *{great}", "*very *{good}", "*really *{good}"),
    4: (
        *("*{good}", "*quite *{good}", "*not *{bad} *at *all", "*never *{bad}"),
        *("*far *from *{bad}", "*anything *but *{bad}", "*not *at *all *{bad}"),
    ),
    3: (
        *("*average", "*ordinary", "*neither *{good} *nor *{bad}"),
        *("*not *{great} and *not *{awful} *either", "*not *{bad} and *not *{good} *either"),
    ),
    2: (
        *("*{bad}", "*rather *{bad}", "*not *{good}", "*never *{good}"),
        *("*far *from *{good}", "*hardly *{good}", "*not *{great}"),
    ),
    1: (
        *("*{awful}", "*absolutely *{awful}", "*very *{bad}", "*really *{bad}"),
        *("*not *{good} *at *all", "*anything *but *{good}", "*not *at *all *{good}"),
    ),
}
# Phrases after "i", by rating; {it} is the thing or "it".
REACTIONS: dict[int, tuple[str, ...]] = {
    5: ("*loved {it}", "have *never {tried} a *better {thing}"),
    4: ("*liked {it}", "*enjoyed {it}", "did *not *regret {it} *at *all", "was *never *bored"),
    3: ("*neither *loved *nor *hated {it}", "did *not *like {it} and did *not *hate {it}"),
    2: ("did *not *like {it}", "did *not *enjoy {it}", "*regret {it}", "was *bored"),
    1: ("*hated {it}", "have *never {tried} a *worse {thing}", "did *not *like {it} *at *all"),
}

PEOPLE = (
    *("friend", "sister", "brother", "mother", "father", "neighbour", "colleague", "cousin"),
    *("uncle", "aunt", "teacher", "boss", "dentist", "grandmother"),
)
ACQUAINTANCES = ("friend", "neighbour", "colleague", "cousin")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("january", "march", "april", "june", "july", "september", "october", "december")
TOWNS = ("london", "paris", "seoul", "rome", "lisbon", "vienna", "dublin", "oslo", "busan", "cairo")
ROLES = (
    *("sailor", "doctor", "farmer", "king", "detective", "nurse", "painter", "soldier", "singer"),
    *("baker", "pilot", "thief", "gardener", "queen"),
)
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COLOURS = ("red", "blue", "green", "white", "black", "yellow", "brown", "grey")
FAMILIES = {
    "great": GREAT,
    "good": GOOD,
    "bad": BAD,
    "awful": AWFUL,
    "person": PEOPLE,
    "acquaintance": ACQUAINTANCES,
    "day": DAYS,
    "month": MONTHS,
    "town": TOWNS,
    "role": ROLES,
    "number": NUMBERS,
    "colour": COLOURS,
}

# A verdict in one clause; {phrase} and {reaction} express the writer's rating.
VERDICTS = (
    *("it was {phrase}", "it was {phrase}", "the {thing} was {phrase}", "i found it {phrase}"),
    *("all in all it was {phrase}", "in the end i found it {phrase}", "i {reaction}"),
    "i {reaction}",
    *("for me the {thing} was {phrase}", "to be honest i {reaction}", "to me it was {phrase}"),
)
# A verdict next to an opposite opinion that does not count.
CONTRASTS = (
    *("the {aspect} was {other} but {verdict}", "the {aspect} was {other} yet {verdict}"),
    *("{verdict} although the {aspect} was {other}", "although the {aspect} was {other} {verdict}"),
    "i expected something {word} yet {verdict}",
    "i had been promised a {word} {thing} but {verdict}",
    "my {person} found it {other} but {verdict}",
    "{verdict} even if my {person} {other_reaction}",
)
# Opinions that are not the writer's, or not about the thing.
HEARSAY = (
    *("my {person} found it {phrase}", "a {acquaintance} of mine {reaction}"),
    "my {person} {reaction}",
    *("my {person} told me that it was {phrase}", "the critics found it {phrase}"),
    *("the {thing} was {phrase} said my {person}", "the newspaper called it {word}"),
    *("i expected something {word}", "i had hoped for a {word} evening"),
    "i was promised a {word} {thing}",
    *("the weather was {phrase}", "the traffic that {day} was {phrase}"),
    "my {month} had been {word}",
    *("the {thing} before it was {phrase}", "the other {thing} in {town} was {phrase}"),
)
NEUTRAL = (
    *("it was a {day} in {month}", "i went there on a {day} with my {person}"),
    "we took the bus from {town}",
    *("my {person} came with me", "my {person} had paid for it", "i was alone that {day}"),
    *("there were {number} of us", "i wrote this on the train to {town}"),
    "it rained in {town} that {day}",
    *("i had read about it in {month}", "we talked about it for {number} hours"),
)


@dataclass(frozen=True)
class Topic:
    """Words and templates for one kind of reviewed item.

    Attributes:
        things: nouns for the item.
        aspects: parts that can be better or worse than the whole.
        tried: participle for having experienced it, before "a".
        neutral: templates without an opinion.
        told: templates with an opinion {word} or {phrase} about a detail of the item.
    """

    things: tuple[str, ...]
    aspects: tuple[str, ...]
    tried: str
    neutral: tuple[str, ...]
    told: tuple[str, ...]


TOPICS: dict[str, Topic] = {
    "film": Topic(
        ("film", "movie", "picture"),
        ("acting", "music", "plot", "ending", "sound", "beginning"),
        "seen",
        (
            *("the story takes place in {town}", "it lasts about {number} hours"),
            "a {role} loses a {colour} coat",
            *("it is about a {role} and a {role} from {town}", "the cinema had {number} rows"),
            *("the director comes from {town}", "in one scene a {role} drives to {town}"),
        ),
        (
            *("it is about a {word} {role} in {town}", "the hero has a {word} day in {town}"),
            *("a {role} tells a {word} joke", "the popcorn was {phrase}"),
            "the villain makes a {word} plan",
        ),
    ),
    "book": Topic(
        ("book", "novel", "story"),
        ("style", "translation", "plot", "ending", "cover", "beginning"),
        "read",
        (
            *("it has {number} chapters", "the author lives in {town}", "the cover is {colour}"),
            *("it tells of a {role} who leaves {town}", "a {role} writes letters to a {role}"),
            *("i borrowed it from the library in {month}", "the heroine has {number} brothers"),
        ),
        (
            *("it tells of a {word} {role} from {town}", "the hero has a {word} year in {town}"),
            *("a {role} gets a {word} letter", "the lamp in the library was {phrase}"),
            *("the heroine writes a {word} poem",),
        ),
    ),
    "hotel": Topic(
        ("hotel", "inn", "guesthouse"),
        ("breakfast", "bed", "service", "bathroom", "view", "lift"),
        "stayed in",
        (
            *("we stayed for {number} nights", "our room was on floor {number}"),
            "the curtains were {colour}",
            *("the station is {number} minutes away", "a {role} carried our bags"),
            *("we had booked it in {month}", "the pool opens on {day}"),
        ),
        (
            *("a {role} had a {word} party next door", "the town has a {word} museum"),
            *("we saw a {word} play in {town}", "the flight from {town} was {phrase}"),
            *("a {role} in the lift had a {word} hat",),
        ),
    ),
    "restaurant": Topic(
        ("restaurant", "bistro", "tavern"),
        ("soup", "service", "dessert", "fish", "wine", "bread"),
        "eaten in",
        (
            *("we ordered for {number} people", "the plates were {colour}"),
            "the cook comes from {town}",
            *("our table was for {number}", "the menu changes every {day}"),
            *("we waited for {number} minutes", "a {role} sat at the next table"),
        ),
        (
            *("a {role} at the next table had a {word} birthday", "the shop next door is {phrase}"),
            *("the waiter told us a {word} story", "we came from a {word} concert in {town}"),
            *("a {role} sang a {word} song",),
        ),
    ),
}
