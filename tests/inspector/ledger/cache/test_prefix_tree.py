"""Prompts as a tree, and the tokens of their beginnings."""

from os.path import commonprefix

from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.ledger import Figure
from turntape.inspector.ledger.cache.prefix_tree import ROOT, PrefixTree, Seen, shared_nodes


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
    assert tree.last_seen(nodes, 0) == Seen(5.0, 7)


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=5), min_size=1, max_size=8))
def test_a_node_was_last_seen_with_the_last_request_that_has_it(prompts: list[list[str]]) -> None:
    tree, known = PrefixTree(), dict[int, Seen]()
    for place, blocks in enumerate(prompts):
        nodes = row(tree, *blocks)
        tree.answered(nodes, float(place), place)
        known.update((node, Seen(float(place), place)) for node in nodes)

    for blocks in prompts:
        nodes = row(tree, *blocks)
        assert [tree.last_seen(nodes, at) for at in range(len(nodes))] == [known[node] for node in nodes]
        assert [shared_nodes(nodes, row(tree, *other)) for other in prompts] == [
            len(commonprefix([blocks, other])) for other in prompts
        ]


def test_a_thread_that_grows_notes_only_what_is_new() -> None:
    tree, blocks = PrefixTree(), [str(number) for number in range(50)]
    for end in range(1, 51):
        tree.answered(row(tree, *blocks[:end]), float(end), end)

    assert len(tree._seen) == 0
    assert tree.last_seen(row(tree, "0"), 0) == Seen(50.0, 50)
