"""Lists in messages: a few names, and where the rest are."""

from __future__ import annotations

from kservec.core.listing import listed, listed_near


def test_a_few_names_are_all_shown() -> None:
    """In the order in which they come."""
    assert listed("edcba") == listed_near("a", "edcba", "kservec runtimes") == "e, d, c, b, a"
    assert listed(()) == listed_near("a", (), "kservec runtimes") == ""


def test_of_many_names_the_nearest_are_shown() -> None:
    """The rest is a number, with the command that lists all of them if there is one."""
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "Bets"]
    assert listed(names) == "alpha, beta, gamma, delta, epsilon and 1 more"
    assert listed_near("bet", names) == "Bets, beta, delta, alpha, gamma and 1 more"
    assert listed_near("bet", names, "kservec runtimes").endswith(" and 1 more (kservec runtimes lists them all)")
