"""Lexicon and sentence templates of the synthetic stories.

A template is a line of words. `TAG_OF` tags each word; an ambiguous word has its tag in the
template: `drink/NOUN`. `{slot}` is filled for each story; `(name ... )` marks the answer to the
plot's question of that name.
"""

from __future__ import annotations


def _words(row: str) -> tuple[str, ...]:
    return tuple(row.split())


WOMEN = ("anna", "mary", "lucy", "emma", "nora", "sofia")
MEN = ("tom", "paul", "max", "peter", "john", "hugo")

# A thing and the verb for using it: each predicts the other.
THINGS = tuple(
    _words(row)
    for row in (
        *("bicycle ride", "car drive", "boat row", "book read", "violin play", "kite fly"),
        *("ball throw", "hat wear", "watch wind", "bag carry", "flag wave", "bell ring"),
    )
)
# A trade, its workplace, its product, and the verb for making it.
JOBS = tuple(
    _words(row)
    for row in (
        *("baker bakery cake bake", "cook kitchen soup cook", "painter studio wall paint"),
        *("gardener garden flower plant", "tailor shop dress sew", "singer theatre song sing"),
        *("writer library story write", "builder yard house build"),
    )
)
# An animal, the verb for its sound, its food, and its home.
ANIMALS = tuple(
    _words(row)
    for row in (
        *("dog bark meat kennel", "cat purr milk basket", "horse neigh hay stable"),
        *("cow bellow grass field", "bird chirp corn cage", "mouse squeak cheese hole"),
        *("bear growl honey cave", "owl hoot mice tree"),
    )
)
# The weather, the gear it calls for, and how a person without that gear feels.
WEATHER = (
    ("it/PRON rains/VERB", "umbrella", "wet"),
    ("it/PRON snows/VERB", "coat", "cold"),
    ("the sun/NOUN shines/VERB", "parasol", "hot"),
    ("the wind/NOUN blows/VERB", "scarf", "cool"),
)
# A need, and the action that it causes.
NEEDS = (
    ("hungry", "eats/VERB a sandwich/NOUN"),
    ("thirsty", "drinks/VERB some water/NOUN"),
    ("tired", "goes/VERB to/ADP bed/NOUN"),
    ("sad", "cries/VERB"),
    ("ill", "takes/VERB a pill/NOUN"),
    ("bored", "asks/VERB a riddle/NOUN"),
)
COLOURS = ("red", "blue", "green", "white", "black", "brown")
FURS = ("white", "black", "brown")
PLACES = ("station", "church", "bridge", "market", "castle", "museum", "mill")
SPOTS = ("park", "forest", "street", "square", "valley")
PREPOSITIONS = ("behind", "near", "beside")
TIMES = ("morning", "evening", "day")
NUMBERS = ("two", "three", "four", "five")

TAG_OF: dict[str, str] = {
    word: tag
    for tag, words in {
        "PRON": "it they",
        "DET": "a the this every one no some",
        "AUX": "is can cannot does",
        "ADP": "in with for as",
        "ADV": "today now again then so together home back",
        "CCONJ": "and but",
        "SCONJ": "because when",
        "PART": "not",
        "NOUN": "tea work evening",
        "ADJ": "happy gone",
        "VERB": (
            "has have buys finds loses looks thanks laughs gives brings sees keeps likes lives "
            "sleeps hears comes meets works helps takes walks gets goes"
        ),
    }.items()
    for word in words.split()
}

# The sentences of each plot in order, each with alternatives; "" omits the sentence.
PLOTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "loss": (
        (
            "(owner {name} ) has (what a {colour} {thing} )",
            "{name} the {job} has (what a {colour} {thing} )",
            "in the {place2} (owner {name} ) buys (what a {colour} {thing} )",
        ),
        (
            "every {time} {she} {does} it (spot in the {spot} )",
            "{she} likes to/PART {do} it (spot in the {spot} )",
            "",
        ),
        (
            "today {she} cannot find/VERB the {thing}",
            "but this {time} the {thing} is gone",
            "one {time} {she} loses the {colour} {thing}",
        ),
        ("{she} looks for it in the {place2}", "now {she} is sad/ADJ and cries/VERB", ""),
        (
            "(who {friend} ) finds the {thing} (where {by} the {place} )",
            "(where {by} the {place} ) (who {friend} ) sees the {colour} {thing}",
        ),
        ("{he2} gives it back to/ADP {her}", "{he2} brings {her} the {thing}"),
        ("{she} thanks {him2} and laughs", "now {she} can {do} the {thing} again", ""),
    ),
    "shopping": (
        (
            "{name} buys a {colour_a} {thing_a} and a {colour_b} {thing_b}",
            "{name} has a {colour_a} {thing_a} and a {colour_b} {thing_b}",
        ),
        ("the {thing_a} is {age} but the {thing_b} is {age2}", ""),
        (
            "{she} gives (gift the {colour} {thing} ) to/ADP (friend {friend} )",
            "(friend {friend} ) gets (gift the {colour} {thing} ) and thanks {her}",
        ),
        (
            "{he2} {does} it (spot in the {spot} )",
            "{he2} likes to/PART {do} the {thing} (spot in the {spot} )",
        ),
        (
            "{name} keeps (kept the {colour2} {thing2} )",
            "but {she} does not give/VERB {him2} (kept the {colour2} {thing2} )",
        ),
        (
            "every {time} {she} {does2} it (where {by} the {place} )",
            "{she} can {do2} the {thing2} (where {by} the {place} )",
            "",
        ),
    ),
    "animal": (
        (
            "(owner {name} ) has a {size} {fur} {animal}",
            "{name} the {job} has a {size} {fur} {animal}",
        ),
        (
            "it lives (home in a {home} {by} the {place} )",
            "the {animal} sleeps (home in a {home} {by} the {place} )",
        ),
        (
            "it likes (food {food} ) and {sounds} when it sees {her}",
            "every {time} {she} brings it (food some {food} )",
        ),
        ("one {time} the {animal} is gone", "but today the {home} is empty/ADJ"),
        (
            "(who {friend} ) hears it when it {sounds} in the {spot}",
            "in the {spot} it {sounds} and (who {friend} ) sees it",
        ),
        ("{he2} brings the {animal} back to/ADP {her}", "{he2} brings {her} the {animal}", ""),
    ),
    "work": (
        ("{name} is (job a {job} )", "{name} works as (job a {job} )"),
        ("{she} works (place in the {workplace} {by} the {place} )",),
        (
            "every {time} {she} {makes} a {product}",
            "{she} {makes} {number} {products} every {time}",
        ),
        (
            "{poss} {sibling} (who {friend} ) helps {her}",
            "(who {friend} ) is {poss} {sibling} and helps {her}",
        ),
        (
            "together they {make} (what {number} {products} )",
            "they {make} (what {number} {products} ) and laugh/VERB",
        ),
        (
            "in the evening {she} and {he2} walk/VERB home",
            "then they take/VERB a walk/NOUN in the {spot}",
            "after/ADP the work {he2} walks home with {her}",
            "",
        ),
    ),
    "weather": (
        ("today {sky} in the {spot}", "{sky} in the {spot} this {time}"),
        (
            "{name} takes {poss} {colour} {gear} and goes to/ADP the {place}",
            "with a {colour} {gear} {name} walks to/ADP the {place}",
        ),
        (
            "there/ADV {she} meets (friend {friend} )",
            "{by} the {place} {she} meets (friend {friend} )",
        ),
        (
            "(who {friend} ) has no {gear} and is (how {state} )",
            "{he2} is (how {state} ) because {he2} has no {gear}",
        ),
        (
            "so {she} gives {him2} (gift the {colour} {gear} )",
            "{he2} takes (gift the {colour} {gear} ) and thanks {her}",
        ),
        (
            "then they drink/VERB some tea in the {place2}",
            "they walk/VERB home and have a drink/NOUN",
            "",
        ),
    ),
    "visit": (
        ("{name} is a {job}", "{name} the {job} is in the {spot}"),
        (
            "this {time} (first {name} ) is {need} and {helps}",
            "{she} {helps} because {she} is (state {need} )",
        ),
        (
            "then (guest {friend} ) comes with (what a {colour} {thing} )",
            "(guest {friend} ) has (what a {colour} {thing} ) and walks home with {her}",
        ),
        (
            "{he2} is (state2 {need2} ) and so {he2} {helps2}",
            "{he2} {helps2} because {he2} is (state2 {need2} )",
        ),
        (
            "together they {do} the {thing} (where {by} the {place} )",
            "they {do} the {thing} (where {by} the {place} )",
        ),
        ("{she} is happy", "{he2} gives {her} the {thing}", ""),
    ),
}

# The questions of each plot; `(name ... )` in its sentences marks the answer.
QUESTIONS: dict[str, dict[str, str]] = {
    "loss": {
        "owner": "who has a {colour} {thing}",
        "what": "what does {name} have",
        "spot": "where does {name} {do} the {thing}",
        "who": "who finds the {thing}",
        "where": "where is the {thing} when {friend} finds it",
    },
    "shopping": {
        "gift": "what does {friend} get",
        "friend": "who gets the {thing}",
        "spot": "where does {friend} {do} the {thing}",
        "kept": "what does {name} keep",
        "where": "where does {name} {do2} the {thing2}",
    },
    "animal": {
        "owner": "who has a {animal}",
        "home": "where does the {animal} live",
        "food": "what does the {animal} eat",
        "who": "who finds the {animal}",
    },
    "work": {
        "job": "what is {name}",
        "place": "where does {name} work",
        "who": "who helps {name}",
        "what": "what do they {make}",
    },
    "weather": {
        "friend": "who meets {name}",
        "who": "who has no {gear}",
        "how": "how is {friend}",
        "gift": "what does {friend} get",
    },
    "visit": {
        "first": "who {helps}",
        "state": "how is {name}",
        "guest": "who has a {colour} {thing}",
        "what": "what does {friend} have",
        "state2": "how is {friend}",
        "where": "where do they {do} the {thing}",
    },
}
