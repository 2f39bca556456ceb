"""Formulas of the cost model as MathML, from the expressions that estimates print."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from html import escape

import clusterspec.cost.formulas as package
from clusterspec.cost.formulas import EXPRESSIONS

HEADING = re.compile(r"^## `(\w+)\([^\n]*\n", re.MULTILINE)
FENCES = {"ceil": "⌈⌉", "floor": "⌊⌋"}
WIDE = 40
"""Characters from which on an equation may be wider than a phone."""
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "−"}


def with_equations(text: str, title: str) -> str:
    """The page of a group of formulas with the equation of each under its heading."""
    module = importlib.import_module(f"{package.__name__}.{title.lower().replace(' ', '_')}")

    def shown(match: re.Match[str]) -> str:
        expression = EXPRESSIONS.get(getattr(module, match[1]))
        if expression is None:
            return match[0]
        region = f' tabindex="0" role="region" aria-label="{match[1]}"' if len(expression) > WIDE else ""
        return f'{match[0]}\n<div class="equation"{region}>{equation(match[1], expression)}</div>\n'

    return HEADING.sub(shown, text)


def equation(name: str, expression: str) -> str:
    """``name = expression`` as MathML elements, one per term of a sum, so that lines can break between terms."""
    terms = list(_terms(ast.parse(expression, mode="eval").body))
    parts = [f"{_word(name)}<mo>=</mo>{terms[0]}", *terms[1:]]
    return " ".join(f'<math displaystyle="true">{part}</math>' for part in parts)


def _terms(node: ast.expr) -> Iterator[str]:
    """The terms of a sum, each after the first with its sign."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        yield from _terms(node.left)
        right = _in_parentheses(node.right) if isinstance(node.op, ast.Sub) else mathml(node.right)
        yield f'<mo form="infix">{SIGNS[type(node.op)]}</mo>{right}'
    else:
        yield mathml(node)


def mathml(node: ast.expr) -> str:
    """An expression of names, numbers, sums, products, quotients and calls as MathML."""
    match node:
        case ast.Name(id=name):
            return _word(name)
        case ast.Constant(value=int() | float() as value):
            return f"<mn>{value:,}</mn>"
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return "".join(_terms(node))
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            return "<mo>·</mo>".join(_group(*parts) for parts in _groups(node))
        case ast.Call(func=ast.Name(id=name), args=inner):
            return _call(name, "<mo>,</mo>".join(map(mathml, inner)))
    raise ValueError(ast.dump(node))


def _call(name: str, inner: str) -> str:
    """A root, a rounding between its signs, or a name with its arguments."""
    if name == "sqrt":
        return f"<msqrt>{inner}</msqrt>"
    return _in_brackets(inner, FENCES[name]) if name in FENCES else f"{_word(name)}{_in_brackets(inner)}"


def _groups(node: ast.expr) -> list[tuple[list[ast.expr], list[ast.expr]]]:
    """A chain of products and quotients as fractions in its order, each with the factors above and below its line."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult | ast.Div):
        return [([node], [])]
    found = _groups(node.left)
    above, below = found[-1]
    if isinstance(node.op, ast.Div):
        below.append(node.right)
    elif below:
        found.append(([node.right], []))
    else:
        above.append(node.right)
    return found


def _group(above: list[ast.expr], below: list[ast.expr]) -> str:
    if not below:
        return _product(above, alone=False)
    return f"<mfrac><mrow>{_product(above)}</mrow><mrow>{_product(below)}</mrow></mfrac>"


def _product(factors: list[ast.expr], *, alone: bool = True) -> str:
    """Factors with a dot between them; a sum that is not alone stands in parentheses."""
    if alone and len(factors) == 1:
        return mathml(factors[0])
    return "<mo>·</mo>".join(map(_in_parentheses, factors))


def _in_parentheses(node: ast.expr) -> str:
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    return _in_brackets(mathml(node)) if is_sum else mathml(node)


def _in_brackets(inner: str, signs: str = "()") -> str:
    high = "" if "<mfrac>" in inner else ' stretchy="false"'
    return f"<mrow><mo{high}>{signs[0]}</mo>{inner}<mo{high}>{signs[1]}</mo></mrow>"


def _word(name: str) -> str:
    return f"<mi>{escape(name.replace('_', ' '))}</mi>"
