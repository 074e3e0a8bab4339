"""Formulas that both Python and the module evaluate, exactly: an expression becomes a small tree."""

from __future__ import annotations

import ast
from fractions import Fraction

from contextlab.errors import InputError

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Eq: "=="}
FUNCTIONS = ("min", "max", "floor", "ceil")


def tree(expression: str) -> object:
    """Return the tree of an expression with + - * / // %, < <= ==, min, max, floor, ceil and `a if c else b`.

    >>> tree("2 * layers // 3")
    ['//', ['*', '2', {'name': 'layers'}], '3']
    """

    def walk(node: ast.AST) -> object:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return repr(value)
            case ast.Name(id=name):
                return {"name": name}
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], walk(left), walk(right)]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return ["-", "0", walk(operand)]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return [COMPARISONS[type(op)], walk(left), walk(right)]
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op], comparators=[right]):
                return ["<" if isinstance(op, ast.Gt) else "<=", walk(right), walk(left)]
            case ast.IfExp(test=test, body=body, orelse=other):
                return ["if", walk(test), walk(body), walk(other)]
            case ast.Call(func=ast.Name(id=name), args=[first, *rest], keywords=[]) if name in FUNCTIONS:
                result = walk(first)
                if name in ("floor", "ceil") and not rest:
                    return [name, result]
                for one in rest:
                    result = [name, result, walk(one)]
                return result
        raise InputError(f"a formula of an explorer cannot hold {ast.unparse(node)!r}")

    try:
        return walk(ast.parse(expression, mode="eval").body)
    except SyntaxError:
        raise InputError(f"not a formula: {expression!r}") from None


def text(value: object) -> str:
    """Write an exact value as decimal text for the module; raises `InputError` when it has no finite decimal form."""
    value = Fraction(value)
    denominator = value.denominator
    for factor in (2, 5):
        while denominator % factor == 0:
            denominator //= factor
    if denominator != 1:
        raise InputError(f"{value} has no finite decimal form: round it in Python")
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    return ("-" if value < 0 else "") + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)
