"""What a misspelt word was meant to be.

Decides nearness of words alone; which words are allowed in a place is its caller's knowledge. Both may come from who
writes the input, so the time that it takes is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable

SLIP = 2
"""Edits that one slip takes."""
LONGEST = 300
"""Characters of a word that is looked at: Kubernetes' names have up to 253. What is longer is no misspelt word."""


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was most likely meant to be, or None if none is near.

    A candidate that differs in letter case only always wins; else the fewest edits, at most a third of the word.
    Equally near candidates: the first in alphabetical order.
    """
    if len(word) > LONGEST:
        return None
    names = [(name, name.casefold()) for name in sorted(candidates) if name != word]
    most = max(1, len(word) // 3)
    # Most slips are small, and hardly any word is near enough to one to be looked at.
    return nearest(word.casefold(), names, min(SLIP, most)) or nearest(word.casefold(), names, most)


def by_likeness(word: str, names: Iterable[str]) -> list[str]:
    """Names in the order in which they resemble a word, those that do so equally by the alphabet."""
    folded = word[:LONGEST].casefold()
    return sorted(names, key=lambda name: (edits(folded, name[:LONGEST].casefold(), LONGEST), name))


def nearest(word: str, names: Iterable[tuple[str, str]], limit: int) -> str | None:
    """The first of the nearest names, each with its folded form; None if all are further away than `limit` edits."""
    meant = None
    for name, folded in names:
        if (needed := edits(word, folded, limit)) <= limit:
            limit, meant = needed - 1, name
    return meant


def edits(left: str, right: str, limit: int) -> int:
    """How many insertions, removals, replacements and swaps of neighbours lead from one word to the other.

    Anything above `limit` is reported as `limit + 1`.
    """
    if left == right:
        return 0
    if abs(len(left) - len(right)) > limit or len(set(right).difference(left)) > limit:
        return limit + 1
    start = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return min(distance(left[start:], right[start:], limit), limit + 1)


def distance(left: str, right: str, limit: int) -> int:
    """The edits between two words, of which no part is edited twice; something above `limit` if there are more.

    The differences of neighbours in a column of the usual table are plus one, zero or minus one, so a column is two
    whole numbers (`more`, `less`: a bit for each row), and the next one follows from it by a few operations. After H.
    Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003.
    """
    rows = (1 << len(left)) - 1
    places: dict[str, int] = {}
    for i, letter in enumerate(left):
        places[letter] = places.get(letter, 0) | 1 << i
    more, less, same, before, found = rows, 0, 0, 0, len(left)
    for rest, letter in zip(range(len(right) - 1, -1, -1), right, strict=True):
        here = places.get(letter, 0)
        swapped = ((~same & here) << 1) & before
        same = ((((here & more) + more) ^ more) | here | less | swapped) & rows
        up, down = less | (rows & ~(same | more)), same & more
        found += (up >> (len(left) - 1) & 1) - (down >> (len(left) - 1) & 1) if left else 1
        up = (up << 1 | 1) & rows
        more, less = (down << 1 | (rows & ~(same | up))) & rows, up & same
        before = here
        if found - rest > limit:
            return found
    return found
