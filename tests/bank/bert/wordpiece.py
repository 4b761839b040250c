"""Answers to `wordpiece`: in many styles, and wrong in many ways."""

import re
import sys
import warnings

# Right


def pointer_moves(word, vocabulary, unknown="[UNK]"):
    if len(word) > 100:
        return [unknown]
    found = []
    start = 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end]
            if start > 0:
                piece = "##" + piece
            if piece in vocabulary:
                found.append(piece)
                break
            end -= 1
        if end == start:
            return [unknown]
        start = end
    return found


def word_gets_shorter(word: str, vocabulary, unknown: str = "[UNK]") -> list[str]:
    if len(word) > 100:
        return [unknown]
    pieces, rest = [], word
    while rest:
        size = next(
            (n for n in range(len(rest), 0, -1) if _marked(rest[:n], pieces) in vocabulary), 0
        )
        if size == 0:
            return [unknown]
        pieces.append(_marked(rest[:size], pieces))
        rest = rest[size:]
    return pieces


def _marked(letters, pieces):
    return f"##{letters}" if pieces else letters


def recursive(word, vocabulary, unknown="[UNK]"):
    def rest(letters, sign):
        if not letters:
            return []
        for n in range(len(letters), 0, -1):
            if sign + letters[:n] in vocabulary:
                others = rest(letters[n:], "##")
                return None if others is None else [sign + letters[:n], *others]
        return None

    if len(word) > 100:
        return [unknown]
    found = rest(word, "")
    return [unknown] if found is None else found


def marks_first(word, vocabulary, unknown="[UNK]"):
    # the rest of the word keeps its marks in front
    if len(word) > 100:
        return [unknown]
    out, left = [], word
    while left and left != "##":
        for end in range(len(left), 2 if out else 0, -1):
            if left[:end] in vocabulary:
                out.append(left[:end])
                left = "##" + left[end:]
                break
        else:
            return [unknown]
    return out


def as_a_tuple(word, vocabulary, unknown="[UNK]"):
    return tuple(pointer_moves(word, vocabulary, unknown))


def asks_by_method(word, vocabulary, unknown="[UNK]"):
    if not word:
        return []
    if len(list(word)) >= 101:
        return [unknown]
    known = vocabulary.__contains__
    cuts, marks = [0], ""
    pieces = []
    while cuts[-1] != len(word):
        options = [
            j for j in range(cuts[-1] + 1, len(word) + 1) if known(marks + word[cuts[-1] : j])
        ]
        if options == []:
            return [unknown]
        pieces.append(marks + word[cuts[-1] : max(options)])
        cuts.append(max(options))
        marks = "##"
    return pieces


def talkative(word, vocabulary, unknown="[UNK]"):
    warnings.warn("spelling", stacklevel=1)
    print(word, file=sys.stderr)
    pieces = pointer_moves(word, vocabulary, unknown)
    print(pieces)
    return pieces


RIGHT = [
    pointer_moves,
    word_gets_shorter,
    recursive,
    marks_first,
    as_a_tuple,
    asks_by_method,
    talkative,
]

# Wrong


def loops_over_the_vocabulary(word, vocabulary, unknown="[UNK]"):
    # a vocabulary need not be something to loop over
    if len(word) > 100:
        return [unknown]
    out, rest, sign = [], word, ""
    while rest:
        fits = [p for p in vocabulary if (sign + rest).startswith(p) and len(p) > len(sign)]
        if not fits:
            return [unknown]
        best = max(fits, key=len)
        out.append(best)
        rest, sign = rest[len(best) - len(sign) :], "##"
    return out


def makes_a_set(word, vocabulary, unknown="[UNK]"):
    return pointer_moves(word, set(vocabulary), unknown)


def gets_an_id(word, vocabulary, unknown="[UNK]"):
    # an id of 0 counts as nothing, and only dicts have get
    if len(word) > 100:
        return [unknown]
    out, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if vocabulary.get(piece):
                break
        else:
            return [unknown]
        out.append(piece)
        start = end
    return out


def longest_from_the_right(word, vocabulary, unknown="[UNK]"):
    if len(word) > 100:
        return [unknown]
    out, end = [], len(word)
    while end > 0:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return [unknown]
        out.insert(0, piece)
        end = start
    return out


def fewest_pieces(word, vocabulary, unknown="[UNK]"):
    if len(word) > 100:
        return [unknown]
    best = {0: []}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if start in best and piece in vocabulary:
                found = [*best[start], piece]
                if end not in best or len(found) < len(best[end]):
                    best[end] = found
    return best.get(len(word), [unknown])


def up_to_four_letters(word, vocabulary, unknown="[UNK]"):
    # pieces of more than four letters are never looked for
    if len(word) > 100:
        return [unknown]
    out, start = [], 0
    while start < len(word):
        for end in range(min(len(word), start + 4), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return [unknown]
        out.append(piece)
        start = end
    return out


def a_string_of_pieces(word, vocabulary, unknown="[UNK]"):
    return " ".join(pointer_moves(word, vocabulary, unknown))


def unknown_as_a_string(word, vocabulary, unknown="[UNK]"):
    found = pointer_moves(word, vocabulary, unknown)
    return unknown if found == [unknown] else found


def none_for_unknown(word, vocabulary, unknown="[UNK]"):
    found = pointer_moves(word, vocabulary, unknown)
    return None if found == [unknown] else found


def nothing_for_unknown(word, vocabulary, unknown="[UNK]"):
    found = pointer_moves(word, vocabulary, unknown)
    return [] if found == [unknown] else found


def one_unknown_per_letter(word, vocabulary, unknown="[UNK]"):
    found = pointer_moves(word, vocabulary, unknown)
    return [unknown] * len(word) if found == [unknown] else found


def bytes_counted(word, vocabulary, unknown="[UNK]"):
    if len(word.encode()) > 100:
        return [unknown]
    return pointer_moves(word, vocabulary, unknown)


def letters_of_ascii_only(word, vocabulary, unknown="[UNK]"):
    return pointer_moves(re.sub("[^ -~]", "", word), vocabulary, unknown)


def cut_after_100(word, vocabulary, unknown="[UNK]"):
    return pointer_moves(word[:100], vocabulary, unknown)


def whole_word_only(word, vocabulary, unknown="[UNK]"):
    return [word] if word in vocabulary else [unknown] if word else []


def two_pieces_at_most(word, vocabulary, unknown="[UNK]"):
    if len(word) > 100:
        return [unknown]
    for end in range(len(word), 0, -1):
        if word[:end] in vocabulary:
            if end == len(word):
                return [word]
            if "##" + word[end:] in vocabulary:
                return [word[:end], "##" + word[end:]]
            return [unknown]
    return [unknown] if word else []


def each_piece_once(word, vocabulary, unknown="[UNK]"):
    return list(dict.fromkeys(pointer_moves(word, vocabulary, unknown)))


def pieces_sorted(word, vocabulary, unknown="[UNK]"):
    return sorted(pointer_moves(word, vocabulary, unknown))


def unknown_is_needed(word, vocabulary, unknown):
    return pointer_moves(word, vocabulary, unknown)


def a_generator(word, vocabulary, unknown="[UNK]"):
    yield from pointer_moves(word, vocabulary, unknown)


def with_begin_and_end(word, vocabulary, unknown="[UNK]"):
    return ["[CLS]", *pointer_moves(word, vocabulary, unknown), "[SEP]"]


def words_of_marks_stripped(word, vocabulary, unknown="[UNK]"):
    # a later piece may stand in the vocabulary with or without marks
    if len(word) > 100:
        return [unknown]
    out, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            letters = word[start:end]
            marked = ("##" if start else "") + letters
            if marked in vocabulary or letters in vocabulary:
                break
        else:
            return [unknown]
        out.append(marked)
        start = end
    return out


WRONG = [
    loops_over_the_vocabulary,
    makes_a_set,
    gets_an_id,
    longest_from_the_right,
    fewest_pieces,
    up_to_four_letters,
    a_string_of_pieces,
    unknown_as_a_string,
    none_for_unknown,
    nothing_for_unknown,
    one_unknown_per_letter,
    bytes_counted,
    letters_of_ascii_only,
    cut_after_100,
    whole_word_only,
    two_pieces_at_most,
    each_piece_once,
    pieces_sorted,
    unknown_is_needed,
    a_generator,
    with_begin_and_end,
    words_of_marks_stripped,
]
