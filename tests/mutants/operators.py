"""The mistakes: what can be changed in a source file, as mutation tools do it.

Each operator is a generator that takes a node and yields its replacements. A replacement is a node, or `None` when
the node is removed together with the comma that separates it from its neighbour.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

type Replacement = ast.AST | None

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
TWINS = {
    name: twin
    for pair in (
        ("min", "max"),
        ("any", "all"),
        ("startswith", "endswith"),
        ("removeprefix", "removesuffix"),
        ("lower", "upper"),
        ("lstrip", "rstrip"),
        ("find", "rfind"),
        ("partition", "rpartition"),
        ("append", "appendleft"),
        ("popleft", "pop"),
    )
    for name, twin in (pair, pair[::-1])
}
"""Functions that are confused with each other."""
LOGGERS = ("log", "logger", "logging", "warnings")
"""A call of one of these may go missing: no test has to read the log."""
UNSEEN_FIELDS = ("annotation", "returns", "type_params", "type_comment")
"""Parts of a node that do nothing when the program runs."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake in a source file."""

    start: int
    end: int
    """The first and the last line of the statement that is changed, from 1."""
    line: int
    """The line at which the change begins."""
    everywhere: bool
    """True when the statement runs on import, so that every test may depend on it."""
    before: str
    after: str
    """The line without its indentation, as it is and as it becomes."""
    source: str
    """The whole file with the mistake in it."""


def _comparison(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Compare):
        for n, op in enumerate(node.ops):
            ops = [*node.ops[:n], COMPARISONS[type(op)](), *node.ops[n + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators)


def _boolean(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for n in range(len(values)):
                rest = [*values[:n], *values[n + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.comprehension(target=target, iter=source, ifs=[_, *_] as conditions, is_async=is_async):
            for n in range(len(conditions)):
                yield ast.comprehension(target, source, [*conditions[:n], *conditions[n + 1 :]], is_async)
        case _:
            return


def _arithmetic(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand
        case ast.AugAssign(target=target, op=op, value=value):
            yield ast.Pass()
            if type(op) in ARITHMETIC:
                yield ast.AugAssign(target, ARITHMETIC[type(op)](), value)
        case _:
            return


def _constant(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
    # A sentence is for people, and no test has to quote it.
    elif isinstance(value, str) and not (" " in value.strip() and value.strip()[:1].isalpha()):
        yield ast.Constant(f"XX{value}")
    elif isinstance(value, bytes):
        yield ast.Constant(b"XX" + value)


def _statement(node: ast.AST) -> Iterator[Replacement]:
    match node:
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Yield(value=value)) if value is not None:
            yield ast.Pass()
        case ast.Expr(value=ast.YieldFrom()):
            yield ast.Pass()
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case _:
            return


def _condition(node: ast.AST) -> Iterator[Replacement]:
    """The condition of an `if` or `while` that is a name or a call; comparisons have their own operators."""
    match node:
        case ast.If(test=ast.Name() | ast.Call() | ast.Attribute() | ast.NamedExpr() | ast.Subscript()):
            yield ast.UnaryOp(ast.Not(), node.test)
        case _:
            return


def _call(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.Call):
        return
    for n in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, [*node.keywords[:n], *node.keywords[n + 1 :]])
    match node.func:
        case ast.Name(id=name) if name in TWINS:
            yield ast.Call(ast.Name(TWINS[name]), node.args, node.keywords)
        case ast.Attribute(value=value, attr=name) if name in TWINS:
            yield ast.Call(ast.Attribute(value, TWINS[name]), node.args, node.keywords)
        case _:
            return


OPERATORS: tuple[Callable[[ast.AST], Iterator[Replacement]], ...] = (
    _comparison,
    _boolean,
    _arithmetic,
    _constant,
    _statement,
    _condition,
    _call,
)


def _rows(node: ast.AST) -> list[ast.expr]:
    """The rows of a table, each of which may be missing."""
    match node:
        case ast.List(elts=rows) | ast.Set(elts=rows) | ast.Tuple(elts=rows):
            return rows
        case _:
            return []


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_left_alone(node: ast.AST) -> bool:
    """True for what nothing depends on when the program runs: text for people, types, declarations."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom() | ast.TypeAlias():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name in LOGGERS:
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return any(isinstance(d, ast.Name) and d.id in ("overload", "abstractmethod") for d in decorators)
        case ast.ClassDef(bases=bases):
            return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)
        case _:
            return False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in UNSEEN_FIELDS or (isinstance(node, ast.ClassDef | ast.FunctionDef) and name == "decorator_list"):
            continue
        if isinstance(node, ast.JoinedStr):
            # The text between the fields is for people.
            yield from (part for part in node.values if isinstance(part, ast.FormattedValue))
            return
        if isinstance(node, ast.FormattedValue) and name != "value":
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast":
            arguments = cast(ast.Call, node).args
            yield from arguments[1:]
            return
        if isinstance(node, ast.Subscript) and name == "slice" and _is_type(node):
            continue
        items = value if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, ast.AST))


def _is_type(node: ast.Subscript) -> bool:
    """True for `dict[str, object]` in an expression: a name in lower case that is a type, or one with a capital."""
    return isinstance(node.value, ast.Name) and (
        node.value.id in ("dict", "list", "tuple", "set", "frozenset", "deque", "defaultdict", "type", "field")
        or (node.value.id[:1].isupper() and not node.value.id.isupper())
    )


def mutations(source: str) -> list[Mutation]:
    """Every mistake that the operators know for a file, in the order of its lines."""
    found = list(_Search(source).walk(ast.parse(source), None, True))
    unique = {mutation.source: mutation for mutation in found if mutation.source != source and _parses(mutation.source)}
    return sorted(unique.values(), key=lambda mutation: mutation.line)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class _Search:
    def __init__(self, source: str) -> None:
        self.source = source.encode()
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def walk(self, node: ast.AST, statement: ast.stmt | None, everywhere: bool) -> Iterator[Mutation]:
        """The mutations of `node` and of what is in it."""
        if _is_left_alone(node):
            return
        if isinstance(node, ast.stmt):
            statement = node
        for operator in OPERATORS:
            for replacement in operator(node):
                yield self._mutation(node, replacement, statement, everywhere)
        rows = _rows(node) if everywhere or (isinstance(node, ast.List | ast.Set)) else []
        if len(rows) > 1 or (rows and not isinstance(node, ast.Tuple)):
            for row in rows:
                yield self._mutation(row, None, statement, everywhere)
        if isinstance(node, ast.Dict) and everywhere:
            for key, value in zip(node.keys, node.values, strict=True):
                yield self._removed(self._at(key or value, False), self._at(value, True), value, statement, everywhere)
        inside = everywhere and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in _children(node):
            in_header = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not isinstance(child, ast.stmt)
            yield from self.walk(child, statement, everywhere if in_header else inside)

    def _at(self, node: ast.AST, end: bool) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return self.starts[line - 1] + column

    def _mutation(
        self, node: ast.AST, replacement: Replacement, statement: ast.stmt | None, everywhere: bool
    ) -> Mutation:
        if isinstance(node, ast.comprehension):
            assert isinstance(replacement, ast.comprehension)
            last = node.ifs[-1]
            start, end = self._at(node.target, False), self._at(last, True)
            plain = ast.unparse(replacement).strip().removeprefix("async ").removeprefix("for ")
            return self._changed(start, end, plain.encode(), node.target, statement, everywhere)
        if isinstance(node, ast.If):
            assert replacement is not None
            start, end = self._at(node.test, False), self._at(node.test, True)
            return self._changed(start, end, ast.unparse(replacement).encode(), node.test, statement, everywhere)
        start, end = self._at(node, False), self._at(node, True)
        if replacement is None:
            return self._removed(start, end, node, statement, everywhere)
        text = ast.unparse(ast.fix_missing_locations(replacement))
        if isinstance(replacement, ast.expr) and not isinstance(replacement, ast.Constant | ast.Call | ast.Name):
            text = f"({text})"
        return self._changed(start, end, text.encode(), node, statement, everywhere)

    def _removed(self, start: int, end: int, node: ast.AST, statement: ast.stmt | None, everywhere: bool) -> Mutation:
        """`start` to `end` cut out, with the comma after it."""
        while self.source[end : end + 1].isspace():
            end += 1
        end += self.source[end : end + 1] == b","
        return self._changed(start, end, b"", node, statement, everywhere)

    def _changed(
        self, start: int, end: int, text: bytes, node: ast.AST, statement: ast.stmt | None, everywhere: bool
    ) -> Mutation:
        line = node.lineno  # type: ignore[attr-defined]
        mutated = (self.source[:start] + text + self.source[end:]).decode()
        first = statement.lineno if statement else line
        last = (statement.end_lineno if statement else line) or first
        if isinstance(statement, ast.If | ast.While | ast.For | ast.With | ast.Try | ast.FunctionDef | ast.ClassDef):
            first = last = line
        return Mutation(
            start=first,
            end=last,
            line=line,
            everywhere=everywhere,
            before=self._shown(self.source.decode(), line),
            after=self._shown(mutated, line),
            source=mutated,
        )

    @staticmethod
    def _shown(source: str, line: int) -> str:
        lines = source.splitlines()
        return lines[line - 1].strip() if line <= len(lines) else ""
