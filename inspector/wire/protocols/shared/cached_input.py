"""Whether a count of input tokens holds the cached ones: the answer's own arithmetic decides."""


def whole_input(counted: int, cached: int, output: int, total: int | None) -> int:
    """All input tokens, for an API that counts the `cached` ones beside those of the input.

    Servers that took over the API's fields may count them inside. Then their total is the sum of input and output.
    """
    inside = counted >= cached and total == counted + output
    return counted if inside else counted + cached


def counted_twice(counted: int, read: int, missed: int | None) -> bool:
    """True when `counted` holds the tokens `read` from the cache twice.

    An answer shows this alone when it says how many were not in the cache. A total does not: it may have left out the
    cached tokens of a right count.
    """
    return missed is not None and read > 0 and counted == missed + 2 * read
