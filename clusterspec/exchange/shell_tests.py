"""Results of the tests of a shell script: those decided by the script itself, and those that depend on its
arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clusterspec.exchange.shell_conditions import comparison_result, conjunction, has_signs, matches_pattern
from clusterspec.exchange.shell_text import text_of
from clusterspec.exchange.shell_words import Expansion
from clusterspec.exchange.slurm_directives import OF_A_JOB

if TYPE_CHECKING:
    from tree_sitter import Node


class ShellTests(Expansion):
    """Evaluates the tests of a script with the variables set before them."""

    def status(self, node: Node) -> bool | None:
        """Whether a statement succeeds: the result of a test or of several tests. Other commands are assumed to
        succeed.
        """
        if node.type == "list" and len(node.named_children) == 2:
            sign = "||" if any(child.type == "||" for child in node.children) else "&&"
            return conjunction(sign, *(self.status(child) for child in node.named_children))
        is_test = node.type == "test_command" or text_of(node).startswith("((")
        return self.test_result(node) if is_test else True

    def test_result(self, node: Node) -> bool | None:
        """Whether a test is true; None if that depends on the arguments of the script."""
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in {"test_command", "parenthesized_expression"} and len(inner) == 1:
            return self.test_result(inner[0])
        if node.type == "compound_statement" and len(inner) == 1 and text_of(node).startswith("(("):
            return {None: None, 0: False}.get(self.arithmetic_value(inner[0]), True)
        if node.type == "list" and len(inner) == 2:
            sign = "||" if any(child.type == "||" for child in node.children) else "&&"
            return conjunction(sign, self.test_result(inner[0]), self.test_result(inner[1]))
        if node.type in {"unary_expression", "binary_expression"} and inner:
            return self._unary_truth(node, inner[-1]) if node.type[0] == "u" else self._binary_truth(node)
        if node.type == "command":  # ``if $USE_FP16``, of which the value is the command
            words = self.words(inner[0]) if len(inner) == 1 else ()
            return (
                {"true": True, "false": False}.get(words[0].text) if len(words) == 1 and not words[0].branch else None
            )
        return None

    def _unary_truth(self, node: Node, operand: Node) -> bool | None:
        sign = text_of(node.children[0])
        if sign == "!":
            held = self.test_result(operand)
            return None if held is None else not held
        if sign not in {"-z", "-n"}:
            return None
        word = self.joined_word(operand, self.line(node))
        name = re.fullmatch(r"\$\{?(\w+)\}?(?::?-\})?", word.text)
        unset = bool(name) and name[1] not in self.variables and not OF_A_JOB.match(name[1]) if name else False
        if word.branch or ("$" in word.text and not unset):
            return None
        return (sign == "-z") is (unset or not word.text)

    def _binary_truth(self, node: Node) -> bool | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return None
        sign = text_of(operator)
        if sign in {"&&", "||"}:
            return conjunction(sign, self.test_result(left), self.test_result(right))
        pattern = (node.text or b"")[operator.end_byte - node.start_byte :].decode("utf-8", "replace").strip()
        if sign in {"=", "==", "!="} and has_signs(pattern) and _is_extended(node):
            return self._matches(left, pattern, sign)
        one, other = self.joined_word(left, 0), self.joined_word(right, 0)
        if "$" in one.text + other.text or one.branch or other.branch:
            return None
        return comparison_result(sign, one.text, other.text)

    def _matches(self, left: Node, pattern: str, sign: str) -> bool | None:
        """Whether a value matches a pattern in double brackets."""
        word = self.joined_word(left, 0)
        found = None if "$" in word.text or word.branch else matches_pattern(word.text, pattern)
        return found if sign != "!=" or found is None else not found


def _is_extended(node: Node | None) -> bool:
    """Whether a test is in double brackets, where the right side is a pattern."""
    while node is not None and node.type != "test_command":
        node = node.parent
    return node is not None and node.children[0].type == "[["
