"""The fonts of a page: which shipped faces it needs, which characters are named, and what the system's fonts have."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from clusterspec.report.paper import fonts
from clusterspec.report.paper.fonts import drawable_page, font_faces, shipped_font, spelled_sign
from tests.effort import each

PAGE = "<html><style>a</style><body><p title='\u5b57'>{text}</p></body></html>"


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Answers of `fc-list`, the latest of which is given; the program is found."""
    answers: list[Any] = []

    def run(command: list[str], **options: Any) -> Any:
        assert command == ["fc-list", ":", "charset"] and options["timeout"] == 10
        if isinstance(answers[-1], Exception):
            raise answers[-1]
        return subprocess.CompletedProcess(command, 0, answers[-1], "")

    monkeypatch.setattr("shutil.which", lambda _: "fc-list")
    monkeypatch.setattr("subprocess.run", run)
    fonts._system_ranges.cache_clear()
    yield answers
    fonts._system_ranges.cache_clear()


@pytest.mark.parametrize(
    ("answer", "ranges"),
    [
        ("charset=41-5a 1200\n:charset=f00-fff\n", ((0x41, 0x5A), (0xF00, 0xFFF), (0x1200, 0x1200))),
        ("no set here\ncharset=\n", ()),
        ("charset=41-5a (none) 61\n", ((0x41, 0x5A), (0x61, 0x61))),
        (OSError(), ()),
        (subprocess.TimeoutExpired("fc-list", 10), ()),
    ],
)
def test_the_characters_of_the_system_are_those_that_fontconfig_lists(
    system: list[Any], answer: Any, ranges: fonts.Ranges
) -> None:
    system.append(answer)
    assert fonts._system_ranges() == ranges


def test_a_system_without_fontconfig_has_no_other_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    fonts._system_ranges.cache_clear()
    assert fonts._system_ranges() == ()
    fonts._system_ranges.cache_clear()


@pytest.mark.parametrize("text", ["plain 24 GB", "Überlänge × 2 – “so”", "Ελλάς", "Кирилл", "a ⅓ ≥ b → c"])
def test_a_page_of_main_characters_stays(system: list[Any], text: str) -> None:
    system.append("")
    page = PAGE.format(text=text)
    assert drawable_page(page) == (page, "")


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("\u6f22\u5b57", ["Noto Sans CJK SC"]),
        ("\u05d0", ["Noto Sans Hebrew"]),
        ("\u0e01 \u0905", ["Noto Sans Devanagari", "Noto Sans Thai"]),
        ("\u0628", ["Noto Sans Arabic"]),
    ],
)
def test_a_page_takes_the_shipped_faces_of_its_scripts(system: list[Any], text: str, families: list[str]) -> None:
    system.append("")
    drawing = "<svg><style>b</style></svg>"
    page, note = drawable_page(PAGE.format(text=text) + drawing + fonts.LATIN)
    assert drawing in page, "the first style alone gets the faces"
    assert note == "" and text in page
    named = ", ".join(f"'{family}'" for family in families)
    assert f"html{{font-family:Inter,{named}}}code,pre{{font-family:'JetBrains Mono',{named}}}</style>" in page
    assert page.count("@font-face") == len(families) and page.endswith(f"Inter, {named}")
    assert all(f"font-family:'{family}';font-weight:400" in page for family in families)


def test_a_character_without_a_font_is_named_unless_the_system_has_one(system: list[Any]) -> None:
    """U+1200 is the first of a range; U+1201 lies in it, and U+1202 after it."""
    system.append("charset=1200-1201\n")
    page, note = drawable_page(PAGE.format(text="\u1200\u1201\u1202"))
    assert "\u1200\u1201hi</p>" in page and "has U+1202; the Unicode name" in note
    given, told = drawable_page(PAGE.format(text="\u1200\u1201"), ())
    assert "<p title='\u5b57'>hahu</p>" in given and "U+1200, U+1201;" in told
    assert drawable_page(PAGE.format(text="\u1200"), ((0x1200, 0x1200),)).note == ""


def test_characters_in_tags_and_styles_need_no_font(system: list[Any]) -> None:
    system.append("")
    page = "<html><style>\u1200</style><p title='\u1200'>a</p></html>"
    assert drawable_page(page) == (page, "")


@pytest.mark.parametrize(
    ("char", "said"),
    [
        ("\u12a0", "glottal a"),
        ("\u1780", "ka"),
        ("\u2603", "(snowman)"),
        ("\ue123", "(unnamed character)"),
        ("\u19d1", "one"),
    ],
)
def test_a_character_is_spelled_by_its_sound_or_its_name(char: str, said: str) -> None:
    assert spelled_sign(char) == said


@pytest.mark.parametrize("count", [8, 9, 11])
def test_eight_unknown_characters_are_listed_and_the_others_counted(count: int) -> None:
    note = fonts._missing_font_note(list(range(0x1200, 0x1200 + count)))
    assert note.count("U+") == 8
    assert (f" and {count - 8} more;" in note) is (count > 8)
    assert fonts._missing_font_note([]) == ""


def test_a_page_on_a_screen_embeds_its_fonts_and_a_printed_one_names_them() -> None:
    shown, printed = font_faces(True), font_faces(False)
    assert shown.count("@font-face") == printed.count("@font-face") == 3
    content = base64.b64encode(shipped_font("clusterspec-font:Inter-Regular.woff2")).decode()
    assert f"url(data:font/woff2;base64,{content}) format('woff2')" in shown
    assert "url(clusterspec-font:Inter-SemiBold.woff2)" in printed and "base64" not in printed
    assert "font-family:'Inter';font-weight:600" in printed and "'JetBrains Mono';font-weight:400" in printed
    with pytest.raises(ValueError, match="is no font of reports"):
        shipped_font("Inter-Regular.woff2")


@each(
    ("code", "plain"),
    [(0x09, True), (0x0D, True), (0x0E, False), (0x1F, False), (0x20, True), (0x7E, True), (0x7F, False), (0x9F, False),
     (0xA0, True), (0x17F, True), (0x180, False), (0x192, True), (0x218, True), (0x21B, True), (0x21C, False),
     (0x2C6, True), (0x2DD, True), (0x384, True), (0x3CE, True), (0x400, True), (0x45F, True), (0x490, True),
     (0x491, True), (0x1E80, True), (0x1E85, True), (0x1E9E, True), (0x2000, True), (0x206F, True), (0x2070, False)],
)  # fmt: skip
def test_the_ranges_of_all_faces_have_their_ends(code: int, plain: bool) -> None:
    assert fonts._is_plain_character(code) is plain
