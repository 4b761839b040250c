"""Answers to `wordpiece`: in many styles, and wrong in many ways."""

import re

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


RIGHT = [word_gets_shorter, recursive, marks_first, as_a_tuple, asks_by_method]


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


def bytes_counted(word, vocabulary, unknown="[UNK]"):
    if len(word.encode()) > 100:
        return [unknown]
    return pointer_moves(word, vocabulary, unknown)


def letters_of_ascii_only(word, vocabulary, unknown="[UNK]"):
    return pointer_moves(re.sub("[^ -~]", "", word), vocabulary, unknown)


def cut_after_100(word, vocabulary, unknown="[UNK]"):
    return pointer_moves(word[:100], vocabulary, unknown)


WRONG = [up_to_four_letters, bytes_counted, letters_of_ascii_only, cut_after_100]
