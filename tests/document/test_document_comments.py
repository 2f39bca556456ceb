"""Comments of several lines are read as one text where a sentence goes on, and as several ones elsewhere."""

from __future__ import annotations

from clusterspec.document.comments import joined_comments
from clusterspec.document.model import Comment
from tests.effort import each

LONG = "# The maintenance window is on the second Sunday of each month, where"
BLOCKS = [
    (["# A month of 30 days allows", "# 43 minutes."], ["# A month of 30 days allows 43 minutes."]),
    (["# Saved each", "# half hour, of which", "# 48 stay."], ["# Saved each half hour, of which 48 stay."]),
    (["## the price", "## of a node"], ["## the price of a node"]),
    ([LONG, "# Basel has none."], [f"{LONG} Basel has none."]),  # a name, or a noun of German
    (["# One window.", "# two sites"], ["# One window.", "# two sites"]),
    (["# Prices:", "# 3.50 an hour"], ["# Prices:", "# 3.50 an hour"]),
    (["# two sites", "# Basel"], ["# two sites", "# Basel"]),
    (["# sites", "# - one in Basel"], ["# sites", "# - one in Basel"]),
    (["# sites", "#", "# one in Basel"], ["# sites", "#", "# one in Basel"]),
    (["# -----------", "# sites", "# ==========="], ["# -----------", "# sites", "# ==========="]),
]


@each("lines, texts", BLOCKS)
def test_a_line_that_goes_on_is_a_part_of_the_comment_before(lines: list[str], texts: list[str]) -> None:
    assert joined_comments(Comment("a.yaml", at, 1, text, True) for at, text in enumerate(lines, 1)) == texts


def test_a_comment_behind_a_key_is_joined_with_the_line_below_it_in_its_column() -> None:
    first = Comment("a.yaml", 3, 20, "# eight nodes", False)
    assert joined_comments([first, Comment("a.yaml", 4, 20, "# of each", True)]) == ["# eight nodes of each"]


@each(
    "file, line, column, alone",
    [("b.yaml", 4, 20, True), ("a.yaml", 5, 20, True), ("a.yaml", 4, 3, True), ("a.yaml", 4, 20, False)],
)
def test_comments_of_other_places_are_others(file: str, line: int, column: int, alone: bool) -> None:
    first = Comment("a.yaml", 3, 20, "# eight nodes", False)
    second = Comment(file, line, column, "# of each", alone)
    assert joined_comments([first, second]) == ["# eight nodes", "# of each"]
