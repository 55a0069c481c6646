"""What a misspelt word was meant to be.

Decides nearness of words alone; which words are allowed in a place is its caller's knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was most likely meant to be, or None if none is near.

    A candidate that differs in letter case only always wins; else the fewest edits, at most a third of the word.
    Equally near candidates: the first in alphabetical order.
    """
    folded = word.casefold()
    limit = max(1, len(word) // 3)
    ranked = sorted((edits(folded, name.casefold(), limit), name) for name in candidates if name != word)
    return ranked[0][1] if ranked and ranked[0][0] <= limit else None


def edits(left: str, right: str, limit: int) -> int:
    """How many insertions, removals, replacements and swaps of neighbours lead from one word to the other.

    Anything above `limit` is reported as `limit + 1`.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, above, row = row, before, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return min(row[-1], limit + 1)
