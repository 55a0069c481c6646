"""What a misspelt word was meant to be.

Decides nearness of words alone; which words are allowed in a place is its caller's knowledge. Both may come from who
writes the input, so the time that it takes is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from kservec.core.patterns import Pattern

SLIP = 2
"""Edits that one slip takes."""
FEW = 3
"""Candidates that may begin or end alike by chance."""
LONGEST = 300
"""Characters of a word that is looked at: Kubernetes' names have up to 253. What is longer is no misspelt word."""
SHORTEST = 3
"""Characters of a part of a name that another part is looked through for."""
MOST_PARTS = 12
"""Parts of a name that are looked at."""

_parts_of = Pattern(r"[^\W_]+").findall


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was most likely meant to be, or None if none is near.

    A candidate that differs in letter case only always wins; else the fewest edits, at most a third of the word, and of
    what is its own: how most candidates begin and end tells them apart as little as it does the word from them.
    Equally near candidates: the first in alphabetical order.
    """
    return None if len(word) > LONGEST else _closest(word, tuple(sorted(candidates)))


@lru_cache(maxsize=64)
def _closest(word: str, candidates: tuple[str, ...]) -> str | None:
    """The same. Who misspells a word in one service does so in all that are copies of it."""
    names = [(name, name.casefold()) for name in candidates if name != word]
    most, folded = max(1, len(word) // 3), word.casefold()
    # Most slips are small, and hardly any word is near enough to one to be looked at.
    near = nearest(folded, names, min(SLIP, most)) or nearest(folded, names, most)
    if near is None or near.casefold() == folded:
        return near
    common = Common.of(folded, [name for _, name in names])
    if common.tells_apart(folded, near.casefold()):
        return near
    others = [(name, text) for name, text in names if edits(folded, text, most) <= most]
    return nearest(folded, [(name, text) for name, text in others if common.tells_apart(folded, text)], most)


def meant_name(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a name was most likely meant to be: the closest, else one that has its parts; None if unclear.

    `sklearn` and `sklearnserver` are meant to be `kserve-sklearnserver`: what the one says of itself, the other says as
    well. Parts that most candidates have tell nothing. Of several such candidates it is the one that says least beside.
    """
    known = list(candidates)
    near = closest(name, known)
    if near is not None or len(name) > LONGEST:
        return near
    others = sorted({other for other in known if other != name and len(other) <= LONGEST})
    telling = Telling(tuple(other.casefold() for other in others))
    wanted = telling.parts_of(name)
    folded = name.casefold()
    alike = [other for other in others if has_a_part(other.casefold(), wanted) or telling.has_a_part(folded, other)]
    left = ((left_over(wanted, telling.parts_of(other)), other) for other in alike)
    ranked = sorted((count, other) for count, other in left if count is not None)
    return ranked[0][1] if len(ranked) == 1 or (ranked and ranked[0][0] < ranked[1][0]) else None


def has_a_part(folded: str, wanted: Iterable[str]) -> bool:
    """Whether a name in small letters has one of some parts in it."""
    return any(part in folded for part in wanted)


def left_over(these: Sequence[str], those: Sequence[str]) -> int | None:
    """How many characters of the parts of two names the other does not have; None if neither says the other."""
    unsaid, beside = unshared(these, those), unshared(those, these)
    is_said = any(all(rest < len(part) for part, rest in side) for side in (unsaid, beside))
    return sum(rest for _, rest in (*unsaid, *beside)) if those and is_said else None


def parts(name: str) -> list[str]:
    """The parts of a name between its signs, in small letters."""
    return _parts_of(name.casefold())[:MOST_PARTS]


class Telling:
    """Tells which parts do not stand in most of some names, which are given in small letters."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.most = max(FEW, len(names) // 2)
        self.known: dict[str, bool] = {}

    def parts_of(self, name: str) -> list[str]:
        """The parts of a name that do not stand in most of the names as well."""
        return [part for part in parts(name) if self.tells(part)]

    def has_a_part(self, folded: str, name: str) -> bool:
        """Whether a text in small letters has in it one of the parts of a name that do not stand in most."""
        return any(part in folded and self.tells(part) for part in parts(name))

    def tells(self, part: str) -> bool:
        """Whether a part does not stand in most of the names. Names have many parts in common: each is sought once."""
        if part not in self.known:
            self.known[part] = sum(part in name for name in self.names) <= self.most
        return self.known[part]


def unshared(these: Iterable[str], those: Sequence[str]) -> list[tuple[str, int]]:
    """Parts with how many of their characters others do not have, of which one is in the part or has it in it."""
    return [(part, len(part) - max((overlap(part, other) for other in those), default=0)) for part in these]


def overlap(left: str, right: str) -> int:
    """How many characters two parts share, where the one has the other in it."""
    least = min(len(left), len(right))
    return least if left == right or (least >= SHORTEST and (left in right or right in left)) else 0


class Common(NamedTuple):
    """How many characters at the beginning and at the end of a word are those of most candidates as well."""

    start: int
    end: int

    @classmethod
    def of(cls, word: str, names: Sequence[str]) -> Common:
        """What a word has in common with at least half of the names, and with three at the least."""
        needed = max(FEW, len(names) // 2)
        if len(names) <= needed:
            return cls(0, 0)
        starts = sorted((shared(word, name) for name in names), reverse=True)
        ends = sorted((shared(word[::-1], name[::-1]) for name in names), reverse=True)
        return cls(starts[needed], ends[needed])

    def tells_apart(self, word: str, name: str) -> bool:
        """Whether a name is near a word in what is not common: at most a third of that is edited, and not all of it."""
        start = min(self.start, shared(word, name))
        end = min(self.end, shared(word[start:][::-1], name[start:][::-1]))
        own = max(len(word), len(name)) - start - end
        most = min(max(1, own // 3), own - 1)
        return not start + end or edits(word, name, most) <= most


def shared(left: str, right: str) -> int:
    """How many characters two words begin with alike; whole stretches are compared, which is quicker than signs."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low


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
    start = shared(left, right)
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
