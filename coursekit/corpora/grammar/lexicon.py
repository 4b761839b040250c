"""Lexicon of the synthetic grammar: words, their forms and the nouns they combine with.

Nouns carry tags; verbs and adjectives list the tags they combine with, so that people read and
animals do not. French entries give the gender and the irregular forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coursekit.corpora.grammar.korean_morphology import adjective_adnominal

Tags = frozenset[str]


def tags(names: str) -> Tags:
    """Return a set of tags from names separated by spaces."""
    return frozenset(names.split())


def english_s(word: str) -> str:
    """Return a noun's plural or a verb's third person: cat - cats, box - boxes, carry - carries."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def french_plural(word: str) -> str:
    """Return a noun's or adjective's plural: chat - chats, bateau - bateaux, bois - bois."""
    if word.endswith(("s", "x", "z")):
        return word
    return word + ("x" if word.endswith("eau") else "s")


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with its forms, French gender, Korean counter and tags."""

    english: str
    english_plural: str
    korean: str
    counter: str
    french: tuple[str, ...]  # one token or more: pomme de terre
    french_plural: tuple[str, ...]
    gender: str  # "m" or "f"
    tags: Tags


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective with its forms and the tags of the nouns it describes.

    `korean_stem` is None for words that are only attributive (새); `predicate` is False for those
    not used after "is".
    """

    english: str
    korean: str  # before a noun
    korean_stem: str | None
    korean_irregular: bool
    masculine: str
    masculine_vowel: str  # before a vowel: vieil, bel, nouvel
    feminine: str
    before: bool  # precedes its noun in French
    tags: Tags
    predicate: bool


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb with its forms, the tags of its subjects and objects, and its adverbials."""

    english: str
    korean: str  # stem
    korean_irregular: bool
    french: str  # third person singular
    french_plural: str
    frame: str  # "intransitive", "transitive", "ditransitive", "motion"
    subjects: Tags
    objects: Tags
    # any of "time", "frequency", "place", "speed", "quiet"; "affirmative" rules out negation,
    # for which Korean uses another verb (알다, 모르다)
    adverbials: Tags


@dataclass(frozen=True, eq=False)
class Phrase:
    """One or more words translated as a unit: an adverb, a number, a preposition."""

    english: tuple[str, ...]
    korean: tuple[str, ...]
    french: tuple[str, ...]


def _nouns(common: str, counter: str, rows: str) -> list[Noun]:
    """Read rows `english korean gender french [tags] [key=value]`; `_` is a space in a word."""
    nouns = []
    for row in filter(None, (line.split() for line in rows.splitlines())):
        english, korean, gender, french, *rest = row
        options = dict(part.split("=") for part in rest if "=" in part)
        own = " ".join(part for part in rest if "=" not in part)
        head, *tail = french.split("_")
        plural = options.get("fr", french_plural(head))
        nouns.append(
            Noun(
                english=english,
                english_plural=options.get("en", english_s(english)),
                korean=korean,
                counter=options.get("counter", counter),
                french=(head, *tail),
                french_plural=(plural, *tail),
                gender=gender,
                tags=tags(f"{common} {own}"),
            )
        )
    return nouns


NOUNS: list[Noun] = [
    *_nouns(
        "person animate",
        "명",
        """
        teacher 선생님 m professeur adult
        student 학생 m étudiant adult
        doctor 의사 m médecin adult
        farmer 농부 m fermier adult
        man 남자 m homme adult en=men
        woman 여자 f femme adult en=women
        singer 가수 f chanteuse adult
        king 왕 m roi adult
        queen 여왕 f reine adult
        grandmother 할머니 f grand-mère elder fr=grands-mères
        girl 소녀 f fille
        boy 소년 m garçon
        child 아이 m enfant en=children
        """,
    ),
    *_nouns(
        "animal animate",
        "마리",
        """
        animal 동물 m animal fr=animaux
        dog 개 m chien
        cat 고양이 m chat
        bird 새 m oiseau
        horse 말 m cheval fr=chevaux
        cow 소 f vache
        fox 여우 m renard
        mouse 쥐 f souris en=mice
        bear 곰 m ours
        turtle 거북이 f tortue
        goat 염소 f chèvre
        """,
    ),
    *_nouns(
        "food goods",
        "개",
        """
        apple 사과 f pomme sweet
        cake 케이크 m gâteau sweet
        egg 달걀 m œuf
        potato 감자 f pomme_de_terre fr=pommes
        strawberry 딸기 f fraise sweet
        """,
    ),
    *_nouns(
        "thing goods",
        "개",
        """
        book 책 m livre readable counter=권
        letter 편지 f lettre readable paper counter=통
        box 상자 f boîte openable washable
        bag 가방 m sac openable
        key 열쇠 f clé metal
        hat 모자 m chapeau
        chair 의자 f chaise washable wooden
        table 탁자 f table washable wooden
        bottle 병 f bouteille openable washable
        clock 시계 f horloge machine
        lamp 램프 f lampe machine metal
        flower 꽃 f fleur counter=송이
        """,
    ),
    *_nouns(
        "vehicle washable",
        "대",
        """
        car 자동차 f voiture drivable goods
        train 기차 m train drivable
        boat 배 m bateau goods counter=척
        bicycle 자전거 m vélo goods
        """,
    ),
    *_nouns(
        "road outside",
        "개",
        """
        street 거리 f rue path counter=곳
        river 강 f rivière path
        bridge 다리 m pont path
        square 광장 f place counter=곳
        """,
    ),
    *_nouns(
        "building outside",
        "곳",
        """
        house 집 f maison wooden counter=채
        school 학교 f école
        market 시장 m marché
        station 역 f gare
        library 도서관 f bibliothèque
        shop 가게 m magasin openable
        """,
    ),
    *_nouns(
        "spot outside",
        "곳",
        """
        garden 정원 m jardin
        forest 숲 f forêt
        village 마을 m village
        park 공원 m parc
        """,
    ),
    *_nouns("room", "개", "kitchen 부엌 f cuisine"),
    *_nouns("opening openable washable", "개", "door 문 f porte\nwindow 창문 f fenêtre"),
    *_nouns("tree wooden outside", "그루", "tree 나무 m arbre"),
]


def _adjectives(rows: str) -> list[Adjective]:
    """Read rows `english korean french-m french-f tags [before] [attribute] [irregular] [vowel=]`.

    The Korean column is the stem, or for words marked `attribute`, which are never predicates,
    the form before a noun. Tags are joined by `+`.
    """
    adjectives = []
    for row in filter(None, (line.split() for line in rows.splitlines())):
        english, korean, masculine, feminine, suits, *rest = row
        options = dict(part.split("=") for part in rest if "=" in part)
        attribute, irregular = "attribute" in rest, "irregular" in rest
        adjectives.append(
            Adjective(
                english=english,
                korean=korean if attribute else adjective_adnominal(korean, irregular),
                korean_stem=None if attribute else korean,
                korean_irregular=irregular,
                masculine=masculine,
                masculine_vowel=options.get("vowel", masculine),
                feminine=feminine,
                before="before" in rest,
                tags=frozenset(suits.split("+")),
                predicate=not attribute,
            )
        )
    return adjectives


# "old" has two rows: Korean uses one word for living things and another for all else.
ADJECTIVES: list[Adjective] = _adjectives(
    """
    big 크 grand grande animal+thing+vehicle+building+road+spot+room+opening+tree before
    small 작 petit petite animal+thing+vehicle+building+spot+room+opening+food before
    old 늙은 vieux vieille animal+adult+elder before attribute vowel=vieil
    old 오래된 vieux vieille thing+vehicle+building+opening before attribute vowel=vieil
    young 젊은 jeune jeune adult before attribute
    new 새로운 nouveau nouvelle thing+vehicle+building before attribute vowel=nouvel
    beautiful 아름답 beau belle thing+spot+road+building+tree before irregular vowel=bel
    long 길 long longue path before
    red 빨간 rouge rouge thing+vehicle+opening attribute
    blue 파란 bleu bleue thing+vehicle+opening attribute
    white 하얀 blanc blanche thing+vehicle+animal+building attribute
    black 검은 noir noire thing+vehicle+animal attribute
    heavy 무겁 lourd lourde washable irregular
    expensive 비싸 cher chère goods
    clean 깨끗하 propre propre room+opening+road+building
    wide 넓 large large road+opening
    dangerous 위험하 dangereux dangereuse road
    dark 어둡 sombre sombre room+spot+building irregular
    quiet 조용하 calme calme spot+building+road
    fresh 신선하 frais fraîche food
    sweet 달콤하 sucré sucrée sweet
    tired 피곤하 fatigué fatiguée animate
    hungry 배고프 affamé affamée animate
    happy 행복하 heureux heureuse animate
    brave 용감하 courageux courageuse animate
    clever 똑똑하 intelligent intelligente animate
    rich 부유하 riche riche adult
    famous 유명하 célèbre célèbre adult
    """
)


def _verbs(frame: str, rows: str) -> list[Verb]:
    """Read rows `english stem french-sg french-pl subjects [objects] adverbials`, `-` for none.

    Tags are joined by `+`; a stem followed by `!` is irregular.
    """
    verbs = []
    for row in filter(None, (line.split() for line in rows.splitlines())):
        english, korean, singular, plural, subjects, *rest = row
        objects = rest[0] if frame != "intransitive" else "-"
        verbs.append(
            Verb(
                english=english,
                korean=korean.rstrip("!"),
                korean_irregular=korean.endswith("!"),
                french=singular,
                french_plural=plural,
                frame=frame,
                subjects=frozenset(subjects.split("+")),
                objects=frozenset(objects.split("+")),
                adverbials=frozenset(rest[-1].split("+")),
            )
        )
    return verbs


VERBS: list[Verb] = [
    *_verbs(
        "intransitive",
        """
        sleep 자 dort dorment animate time+frequency+place
        run 달리 court courent animate time+frequency+place+speed
        walk 걷! marche marchent animate time+frequency+place+speed
        swim 수영하 nage nagent animate time+frequency+speed
        sing 노래하 chante chantent person time+frequency+place+quiet
        laugh 웃 rit rient person time+frequency+place+quiet
        cry 울 pleure pleurent person time+frequency+place+quiet
        wait 기다리 attend attendent animate time+frequency+place+quiet
        work 일하 travaille travaillent adult time+frequency+place+speed+quiet
        disappear 사라지 disparaît disparaissent animate+thing+vehicle time+frequency
        arrive 도착하 arrive arrivent person+vehicle+paper time+frequency
        burn 타 brûle brûlent wooden+paper time+speed
        shine 빛나 brille brillent metal time
        """,
    ),
    *_verbs(
        "transitive",
        """
        see 보 voit voient animate animate+thing+food+vehicle+building+tree time+frequency+place
        like 좋아하 aime aiment animate animate+food -
        fear 무서워하 craint craignent animate animate -
        know 알 connaît connaissent person person+building affirmative
        follow 따라가 suit suivent animate animate+drivable time+frequency+speed+quiet
        chase 쫓 poursuit poursuivent animal animate time+frequency+place
        watch 지켜보 observe observent animate animate+building+vehicle time+frequency+place+quiet
        find 발견하 trouve trouvent animate animal+thing+food time+frequency+place
        eat 먹 mange mangent animate food time+frequency+place+speed+quiet
        cross 건너 traverse traversent animate road time+frequency+speed+quiet
        read 읽 lit lisent person readable time+frequency+place+speed+quiet
        open 열 ouvre ouvrent person openable time+frequency+speed+quiet
        close 닫 ferme ferment person openable time+frequency+speed+quiet
        buy 사 achète achètent person goods time+frequency+place
        sell 팔 vend vendent adult goods time+frequency+place
        clean 닦 nettoie nettoient person washable time+frequency+speed
        hide 숨기 cache cachent person thing+food time+place+speed+quiet
        help 돕! aide aident person person time+frequency+place
        call 부르 appelle appellent person person time+frequency+place
        visit 방문하 visite visitent person building+spot time+frequency
        repair 고치 répare réparent adult vehicle+machine+opening time+place+speed
        drive 운전하 conduit conduisent adult drivable time+frequency+speed
        """,
    ),
    *_verbs(
        "ditransitive",
        """
        give 주 donne donnent person thing+food time+frequency+place
        show 보여주 montre montrent person thing+food+animal time+place
        send 보내 envoie envoient person thing+food time+frequency
        """,
    ),
    *_verbs(
        "motion",
        """
        return 돌아가 retourne retournent animate building+spot time+frequency+speed+quiet
        """,
    ),
]


def _phrases(rows: Iterable[str]) -> list[Phrase]:
    """Read rows `english / korean / french`."""
    return [Phrase(*(tuple(part.split()) for part in row.split("/"))) for row in rows]


TIMES = _phrases(
    (
        "today / 오늘 / aujourd'hui",
        "now / 지금 / maintenant",
        "tonight / 오늘 밤 / ce soir",
        "every morning / 매일 아침 / chaque matin",
        "every evening / 매일 저녁 / chaque soir",
        "every night / 매일 밤 / chaque nuit",
    )
)
FREQUENCIES = _phrases(
    ("often / 자주 / souvent", "always / 항상 / toujours", "sometimes / 가끔 / parfois")
)
MANNERS = {
    "speed": _phrases(("slowly / 천천히 / lentement", "quickly / 빠르게 / rapidement")),
    "quiet": _phrases(("quietly / 조용히 / silencieusement",)),
}
# Eight and ten are missing: huit blocks elision, and 열 is also the stem of "open".
NUMBERS = _phrases(
    (
        "two / 두 / deux",
        "three / 세 / trois",
        "four / 네 / quatre",
        "five / 다섯 / cinq",
        "six / 여섯 / six",
        "seven / 일곱 / sept",
        "nine / 아홉 / neuf",
    )
)
MANY = Phrase(("many",), ("많은",), ("beaucoup", "de"))

# each preposition with the tags of the places it combines with
PLACES: list[tuple[Phrase, Tags]] = list(
    zip(
        _phrases(
            (
                "in / 에서 / dans",
                "at / 에서 / à",
                "near / 근처 에서 / près de",
                "behind / 뒤 에서 / derrière",
                "under / 아래 에서 / sous",
            )
        ),
        (tags("room spot"), tags("building"), tags("outside"), tags("building tree"), tags("tree")),
        strict=True,
    )
)
