"""The page of ``Profile.to_html``, in a browser."""

import json
import re
import shutil

import numpy as np
import pytest

import autobatch as ab
from autobatch.profiling import page
from examples.fibonacci import fibonacci

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
N = np.array([6, 2, 9, 4], np.int32)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("viewer") / "fibonacci.html"
    profile = ab.profile(fibonacci, N)
    profile.to_html(path)
    return path


def recorded(path):
    return json.loads(re.search(r'id="recording">(.*?)</script>', path.read_text(), re.S).group(1))


def test_the_page_stands_alone(written):
    text = written.read_text()
    assert not re.search(r'(src|href)="', text)
    assert "<!-- " not in text
    data = recorded(written)
    assert data["title"] == "fibonacci"
    (source,) = data["sources"]
    assert "    if n <= 1:" in source["lines"]
    assert data["results"] == {"result": ["13", "2", "55", "5"]}


def test_text_that_looks_like_a_tag(tmp_path):
    @ab.autobatch
    def f(x):
        return x + len("</script><!-- ")

    path = tmp_path / "f.html"
    ab.profile(f, N).to_html(path)
    assert "</script><!-- " in str(recorded(path)["sources"]).replace("<\\/", "</")


def test_values_are_short():
    assert page._texts(np.array([1.23456789, 2])) == ["1.235", "2"]
    assert page._texts(np.array([[1, 2, 3], [4, 5, 6]])) == ["[1 2 3]", "[4 5 6]"]
    assert page._texts(np.arange(20.0).reshape(2, 10)) == ["[0 1 … 8 9]", "[10 11 … 18 19]"]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def tab(browser, written):
    tab = browser.new_page(viewport={"width": 1200, "height": 800})
    failures = []
    tab.on("pageerror", lambda error: failures.append(error))
    tab.goto(f"file://{written}")
    yield tab
    assert not failures
    tab.close()


def row(tab, name):
    cells = tab.locator("tr", has=tab.locator(f"th:text-is('{name}')")).locator("td")
    return [cell.locator(".top").inner_text() for cell in cells.all()]


def test_the_start_and_the_end(tab):
    assert row(tab, "pc") == ["0"] * 4
    assert row(tab, "n") == ["6", "2", "9", "4"]
    tab.keyboard.press("End")
    assert row(tab, "pc") == ["done"] * 4
    assert row(tab, "result") == ["13", "2", "55", "5"]
    assert tab.locator(".stack").count() == 0


def test_every_step_back_and_forth(tab, written):
    """What a cell shows does not depend on the way there."""
    count = len(recorded(written)["steps"])
    seen = []
    for _ in range(count):
        tab.keyboard.press("ArrowRight")
        seen.append(tab.locator(".lanes").inner_text())
    for wanted in reversed(seen[:-1]):
        tab.keyboard.press("ArrowLeft")
        assert tab.locator(".lanes").inner_text() == wanted


def test_the_running_lines_are_lit(tab):
    tab.keyboard.press("ArrowRight")
    assert [line.inner_text().split()[0] for line in tab.locator("pre .lit").all()] == ["13"]
    tab.get_by_role("button", name="blocks").click()
    assert "cond = n <= 1" in tab.locator("pre.lit").inner_text()


def test_a_stack_shows_its_frames(tab):
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    cells = tab.locator("tr", has=tab.locator("th:text-is('n')")).locator("td")
    assert cells.nth(2).inner_text().split() == ["5", "7", "9"]


def test_who_is_done_waits_nowhere(browser, tmp_path):
    @ab.autobatch
    def halved(x):
        while x > 1.0:
            x = x / 2.0
        return 2.0 * x + 1.0  # in a block that runs once, after the loop

    ab.profile(halved, np.float32([1, 2, 4])).to_html(tmp_path / "f.html")
    tab = browser.new_page()
    tab.goto(f"file://{tmp_path / 'f.html'}")
    assert tab.locator("pre b span").count() > 0
    tab.keyboard.press("End")
    assert row(tab, "pc") == ["done"] * 3
    assert tab.locator("pre b span").count() == 0
    tab.close()


def test_play_and_pause(tab):
    tab.get_by_role("combobox").select_option("60")
    tab.get_by_role("button", name="play").click()
    tab.wait_for_function("document.querySelector('output').textContent.split(' ')[0] > 5")
    tab.get_by_role("button", name="pause").click()
    shown = tab.locator("output").inner_text()
    tab.wait_for_timeout(200)
    assert tab.locator("output").inner_text() == shown


def test_a_click_on_the_strip(tab):
    box = tab.locator(".strip").bounding_box()
    tab.mouse.click(box["x"] + box["width"] - 1, box["y"] + 10)
    assert row(tab, "pc") == ["done"] * 4


@pytest.mark.parametrize("size", [(1400, 900), (390, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(browser, written, size, scheme):
    tab = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    tab.goto(f"file://{written}#step=20")
    assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(re.search(r"\d+", background).group()) > 128) == (scheme == "light")
    tab.close()
