"""The playground in the hands of people: keyboards, phones, engines that hang or stop, texts that must not be lost."""

from __future__ import annotations

import http.server

from tests.cli.conftest import BASE
from tests.editor.conftest import SLOW, Visited

TABS = ("check", "estimate", "search", "cost", "diff", "report", "convert")


def test_an_engine_that_hangs_is_stopped_and_the_text_stays(opened: Visited) -> None:
    page = opened.page
    page.workers[0].evaluate("setTimeout(() => { for (;;); })")
    opened.typed(BASE)
    page.locator("#message").get_by_role("button", name="Stop").click()
    page.locator("#message").get_by_text("Your text is still here").wait_for()
    assert "llama-3.1-8b" in page.locator(".cm-content").inner_text()
    opened.typed(BASE.replace("tp: 2", "tp: 3"))
    page.locator(".finding.error").first.wait_for()


def test_an_engine_that_runs_out_of_memory_starts_again_with_the_next_text(opened: Visited) -> None:
    page = opened.page
    grow = "setTimeout(() => { new WebAssembly.Memory({initial: 65536, maximum: 65536}); new Uint8Array(2 ** 53); })"
    first = page.workers[0]
    first.evaluate(grow)
    page.wait_for_timeout(1000)
    opened.typed(BASE.replace("tp: 2", "tp: 3"))
    page.locator(".finding.error").first.wait_for()
    assert first not in page.workers
    assert "tp: 3" in page.locator(".cm-content").inner_text()


def test_a_text_outlives_an_example_and_a_reload(opened: Visited) -> None:
    page = opened.page
    opened.typed(BASE + "# mine\n")
    page.locator("#tools select").select_option("gb200-nvl72")
    page.locator(".cm-line", has_text="gb200-nvl72").first.wait_for()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    page.locator(".cm-line", has_text="# mine").wait_for()
    page.reload()
    page.locator(".cm-line", has_text="# mine").wait_for()


def test_a_new_spec_starts_from_a_platform_and_a_model_of_the_catalog(opened: Visited) -> None:
    """Names are explained, an unknown one is refused, and a key of the spec is explained where it stands."""
    page = opened.page
    page.get_by_role("button", name="New spec").click()
    page.locator("input[name=platform]").fill("mi355x-ubb9")
    page.locator("dialog small", has_text="no such entry").wait_for()
    page.get_by_role("button", name="Write the spec").click()
    page.locator("dialog .said", has_text="nearest: mi355x-ubb8").wait_for()
    page.locator("input[name=platform]").fill("mi355x-ubb8")
    page.locator("dialog small", has_text="8 × mi355x").wait_for()
    page.locator("dialog select").select_option("serve")
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="hidden")
    page.locator(".cm-line", has_text="platform: mi355x-ubb8").wait_for()
    page.locator("#panel-check [aria-busy=false]").wait_for()
    page.locator(".cm-line", has_text="output_tokens").hover(position={"x": 70, "y": 8})
    page.locator(".hover strong", has_text="workload.serving.output_tokens").wait_for()


def test_a_keyboard_alone_reaches_every_result(opened: Visited) -> None:
    """The editor lets go of Tab, Alt and a digit choose a result, arrows move between the tabs."""
    page = opened.page
    focused = "document.activeElement.id || document.activeElement.className"
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(BASE)
    page.keyboard.press("Tab")
    assert "cm-content" not in page.evaluate(focused)
    for number, name in enumerate(TABS, 1):
        page.keyboard.press(f"Alt+{number}")
        assert page.evaluate(focused) == f"tab-{name}"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "tab-estimate"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "panel-estimate"


def test_a_phone_shows_everything_without_scrolling_sideways(
    site: http.server.ThreadingHTTPServer, visited: Visited
) -> None:
    page = visited.page
    page.set_default_timeout(SLOW)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"http://127.0.0.1:{site.server_port}/")
    page.locator(".verdict").first.wait_for(state="attached")
    assert page.locator("#tools select").bounding_box()["width"] > 80, "its words are readable"
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= 390
    page.locator("#views [data-view=results]").click()
    for name in TABS[:5]:
        page.locator(f"#tab-{name}").click()
        page.locator(f"#panel-{name} .body > *, #panel-{name} .controls").first.wait_for()
        assert page.evaluate(wide) <= 390, name
        over = page.evaluate("[...document.querySelectorAll('#panels')].map(one => one.scrollWidth - one.clientWidth)")
        assert over == [0], name
