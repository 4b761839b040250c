"""Korean morphology: particles and verb endings, computed from Hangul code points.

A Hangul syllable is 0xAC00 + (initial * 21 + vowel) * 28 + final, where final 0 means none.
"""

from __future__ import annotations

FIRST, LAST = 0xAC00, 0xD7A3
NIEUN, RIEUL, BIEUP = 4, 8, 17  # indices of the finals ㄴ, ㄹ, ㅂ

# particle: (after a final consonant, after a vowel)
PARTICLES = {
    "topic": ("은", "는"),
    "subject": ("이", "가"),
    "object": ("을", "를"),
    "and": ("과", "와"),
    "toward": ("으로", "로"),
}


def final_consonant(word: str) -> int:
    """Return the index of the last syllable's final consonant, or 0 if it ends in a vowel.

    Raises:
        ValueError: the word does not end in a Hangul syllable.
    """
    code = ord(word[-1]) if word else 0
    if not FIRST <= code <= LAST:
        raise ValueError(f"'{word}' does not end in a Hangul syllable.")
    return (code - FIRST) % 28


def with_final(word: str, final: int) -> str:
    """Return the word with its last syllable's final consonant replaced."""
    return word[:-1] + chr(ord(word[-1]) - final_consonant(word) + final)


def particle(kind: str, word: str) -> str:
    """Return a particle's form after a word: 은 or 는, 이 or 가, 을 or 를, 과 or 와, 으로 or 로."""
    final = final_consonant(word)
    if kind == "toward" and final == RIEUL:  # 마을로, 길로
        final = 0
    return PARTICLES[kind][0 if final else 1]


def verb_present(stem: str) -> str:
    """Return the plain present of a verb: 건너 - 건넌다, 먹 - 먹는다, 열 - 연다."""
    if final_consonant(stem) in (0, RIEUL):
        return with_final(stem, NIEUN) + "다"
    return stem + "는다"


def verb_adnominal(stem: str) -> str:
    """Return the form of a verb before a noun, present: 건너 - 건너는, 먹 - 먹는, 열 - 여는."""
    return (with_final(stem, 0) if final_consonant(stem) == RIEUL else stem) + "는"


def adjective_adnominal(stem: str, irregular: bool) -> str:
    """Return the form of an adjective before a noun: 크 - 큰, 좁 - 좁은, 길 - 긴, 무겁 - 무거운."""
    final = final_consonant(stem)
    if final in (0, RIEUL):
        return with_final(stem, NIEUN)
    if irregular and final == BIEUP:
        return with_final(stem, 0) + "운"
    return stem + "은"


def prospective(stem: str, irregular: bool) -> str:
    """Return a form before 때: 건너 - 건널, 먹 - 먹을, 열 - 열, irregular 돕 - 도울, 걷 - 걸을."""
    final = final_consonant(stem)
    if final in (0, RIEUL):
        return with_final(stem, RIEUL)
    if irregular:
        return with_final(stem, 0) + "울" if final == BIEUP else with_final(stem, RIEUL) + "을"
    return stem + "을"
