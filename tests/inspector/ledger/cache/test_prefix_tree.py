"""Prompts as a tree, and the tokens of their beginnings."""

from turntape.inspector.ledger import Figure
from turntape.inspector.ledger.cache.prefix_tree import ROOT, PrefixTree


def row(tree: PrefixTree, *blocks: str, weight: int = 100) -> list[int]:
    nodes: list[int] = []
    for block in blocks:
        echo = block.startswith("said")
        nodes.append(tree.child(nodes[-1] if nodes else ROOT, hash(block), "messages", weight, echo=echo))
    return nodes


def test_prompts_that_begin_alike_share_nodes() -> None:
    tree = PrefixTree()
    one, other = row(tree, "a", "b", "c"), row(tree, "a", "b", "d")
    assert one[:2] == other[:2]
    assert one[2] != other[2]
    assert row(tree, "b")[0] != one[1]


def test_tokens_are_divided_by_weight_up_to_a_count() -> None:
    tree = PrefixTree()
    nodes = row(tree, "a", "b", "c", "d")
    tree.settle(nodes, {}, 400, exact=True)
    assert [tree.tokens[node] for node in nodes] == [100, 200, 300, 400]
    assert tree.figure(nodes, 1) == Figure(200, 0, 400, "estimated")
    assert tree.figure(nodes, 3) == Figure.exact(400)


def test_a_count_in_between_is_kept() -> None:
    tree = PrefixTree()
    nodes = row(tree, "a", "b", "c", "d")
    tree.settle(nodes, {1: 300}, 400, exact=False)
    assert [tree.tokens[node] for node in nodes] == [150, 300, 350, 400]
    assert [tree.exact[node] for node in nodes] == [False, True, False, False]
    assert tree.figure(nodes, 2) == Figure(350, 300, 700, "estimated")


def test_what_is_known_stays() -> None:
    tree = PrefixTree()
    tree.settle(row(tree, "a", "b"), {}, 200, exact=True)
    longer = row(tree, "a", "b", "c", "d")
    tree.settle(longer, {}, 300, exact=True)
    assert [tree.tokens[node] for node in longer] == [100, 200, 250, 300]


def test_the_answer_has_its_own_count() -> None:
    tree = PrefixTree()
    tree.settle(row(tree, "a"), {}, 100, exact=True)
    longer = row(tree, "a", "said b", "said c", "d")
    tree.settle(longer, {}, 200, exact=True, said=20)
    assert [tree.tokens[node] for node in longer] == [100, 110, 120, 200]


def test_an_answer_that_does_not_fit_is_not_counted() -> None:
    tree = PrefixTree()
    tree.settle(row(tree, "a"), {}, 100, exact=True)
    longer = row(tree, "a", "said b", "c")
    tree.settle(longer, {}, 120, exact=True, said=50)
    assert [tree.tokens[node] for node in longer] == [100, 110, 120]


def test_counts_never_fall() -> None:
    tree = PrefixTree()
    tree.settle(row(tree, "a"), {}, 100, exact=True)
    longer = row(tree, "a", "b")
    tree.settle(longer, {}, 90, exact=True)
    assert tree.tokens[longer[1]] == 100


def test_nothing_is_known_before_a_count() -> None:
    tree = PrefixTree()
    nodes = row(tree, "a")
    assert tree.figure(nodes, 0) is None
    tree.answered(nodes, 5.0, 7)
    assert (tree.seen[nodes[0]], tree.places[nodes[0]]) == (5.0, 7)
