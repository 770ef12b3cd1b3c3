"""The control UI in a real browser: what people come for, by clicks and by keys, and the accessibility checker axe."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

from em_pipelines.interfaces.memory import Memory

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MOST_CLICKS = 4
PATIENCE_MS = 180_000
"""An erasure takes ten processor seconds, and whoever shares the machine takes their part."""
LOGGED = "https?://\\S+"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is here: install Debian's package chromium"),
]
CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Hedda Voss\r\nORG:Fjordlys\r\nBDAY:1985-02-03\r\nEND:VCARD\r\n"


def em(*words: object) -> None:
    command = [sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="module")
def home(examples_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples with an imported card and a night, to be changed."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(examples_home, folder / "home", symlinks=True)
    (folder / "cards.vcf").write_text(CARD, encoding="utf-8")
    em("run", folder / "cards.vcf", "--user-id", "ada", "--home", folder / "home")
    em("consolidate", "--force", "--home", folder / "home")
    return folder / "home"


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    """Where a real `em ui` serves."""
    command = [sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()", "ui", "--port", "0"]
    with subprocess.Popen(
        [*command, "--home", str(home)], cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(LOGGED, line)
        assert found, line
        yield found[0].rstrip("/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        # Chromium's own sandbox needs what containers seldom have; only our own pages are opened.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Clicks:
    """A page on which clicks are counted; it begins where everybody begins."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.n = 0
        page.goto(address)

    def on(self, name: str, role: Any = "link", *, within: str = "body", exact: bool = True) -> "Clicks":
        self.n += 1
        self.page.locator(within).get_by_role(role, name=name, exact=exact).first.click()
        return self

    def sees(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text, timeout=PATIENCE_MS)
        assert self.n <= MOST_CLICKS


@pytest.fixture
def clicks(chromium: Any, address: str) -> Iterator[Clicks]:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield Clicks(page, address)
    context.close()
    assert problems == []


def find_where_a_fact_comes_from(clicks: Clicks) -> None:
    clicks.on("mirela").on("Dana lives in Graz")
    clicks.sees("Actually, my sister Dana lives in Graz, not in Vienna.")


def see_why_nothing_is_known(clicks: Clicks) -> None:
    clicks.on("mirela").on("Audit")
    clicks.page.get_by_label("Words that somebody may have said").fill("Reykjavik")
    clicks.on("Look", "button").sees("It was never said.")


def follow_a_message_through_every_stage(clicks: Clicks) -> None:
    clicks.on("tobias").on("Audit").on("Follow the message", exact=False).sees("interactions")


def confirm_a_fact(clicks: Clicks) -> None:
    clicks.on("tobias").on("user ", within="tbody", exact=False).on("It is right", "button").sees("Noted as right.")


def look_at_the_graph_of_an_earlier_day(clicks: Clicks) -> None:
    clicks.on("mirela").on("Graph")
    slider = clicks.page.get_by_role("slider")
    clicks.n += 1
    slider.fill("4")
    slider.dispatch_event("change")
    clicks.sees("lives in Vienna")


def accept_an_import(clicks: Clicks) -> None:
    clicks.on("ada").on("Review").on("Accept: ", "button", exact=False).sees("Accepted")


def see_what_would_be_asked_and_why(clicks: Clicks) -> None:
    clicks.on("mirela").on("Probes")
    clicks.n += 1
    clicks.page.locator("main a[href^='/probe?']").first.click()
    clicks.sees("It rests on")


def ask_as_an_agent_would(clicks: Clicks) -> None:
    clicks.on("mirela").on("Playground")
    clicks.page.get_by_label("Question").fill("Where does my sister live?")
    clicks.on("Ask", "button").sees("experience_context")


def roll_a_night_back(clicks: Clicks) -> None:
    clicks.on("tobias").on("Experience").on("Roll back", "button", exact=False).sees("Rolled back")


def correct_a_fact(clicks: Clicks) -> None:
    clicks.on("mirela").on("user works at Weserlink")
    clicks.page.get_by_label("Instead").fill("Hafenkontor")
    clicks.on("Correct", "button").sees("Corrected to Hafenkontor.")


def take_a_fact_back(clicks: Clicks) -> None:
    clicks.on("mirela").on("user likes cardamom buns").on("Take it back", "button").sees("Taken back")


def forget_a_person_who_is_spoken_of(clicks: Clicks) -> None:
    clicks.on("mirela")
    clicks.page.get_by_label("Words").fill("Frau Behrens")
    clicks.page.keyboard.press("Enter")
    clicks.on("Everything about Frau Behrens").on("Forget Frau Behrens…")
    clicks.page.evaluate(
        "document.querySelector('form[data-works]').addEventListener('submit', (e) => e.preventDefault())"
    )
    clicks.on("Erase for good", "button")
    expect(clicks.page.get_by_role("button", name="Erasing…")).to_be_disabled()
    clicks.page.evaluate("document.querySelector('form[data-works]').submit()")
    clicks.sees("Erased for good")


def forget_somebody_whole(clicks: Clicks) -> None:
    clicks.on("tobias").on("Forget everything of tobias…")
    clicks.page.get_by_label("To erase everything").fill("tobias")
    clicks.on("Erase for good", "button").sees("Erased for good")


def see_the_certificate_of_what_was_erased(clicks: Clicks) -> None:
    clicks.on("mirela").on("Audit").on("certificate ", exact=False).sees("it was found in 0")


TASKS: tuple[Callable[[Clicks], None], ...] = (
    find_where_a_fact_comes_from, see_why_nothing_is_known, follow_a_message_through_every_stage, confirm_a_fact,
    look_at_the_graph_of_an_earlier_day, accept_an_import, see_what_would_be_asked_and_why, ask_as_an_agent_would,
    roll_a_night_back, take_a_fact_back, forget_a_person_who_is_spoken_of,
    see_the_certificate_of_what_was_erased, forget_somebody_whole,
)  # fmt: skip


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_takes_four_clicks_at_most(clicks: Clicks, task: Callable[[Clicks], None]) -> None:
    task(clicks)


def test_what_is_corrected_is_served_at_once_and_survives_a_full_run(home: Path, clicks: Clicks) -> None:
    correct_a_fact(clicks)
    assert "Hafenkontor" in {f["object"] for f in Memory(home, "mirela").facts()}
    em("run", "--full", "--home", home)
    known = {f["object"] for f in Memory(home, "mirela").facts() if f["relation"] == "works_at"}
    assert "Hafenkontor" in known
    assert "Weserlink" not in known


PAGES = (
    "/", "/people", "/soundness", "/facts?user=mirela", "/graph?user=mirela", "/review?user=ada",
    "/audit?user=mirela&q=Porto", "/probes?user=mirela", "/experience?user=mirela",
    "/playground?user=mirela&q=Where+does+my+sister+live", "/entity?user=mirela&name=Dana",
    "/entity/join?user=mirela&name=Dana&into=Dana+Marin", "/forget?user=mirela&entity=Dana",
    "/forget?user=mirela&everything=1", "/facts?user=nobody",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(chromium: Any, address: str, scheme: str) -> None:
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    paths = list(PAGES)
    page.goto(f"{address}/facts?user=mirela")
    paths.append(page.locator("tbody a").first.get_attribute("href") or "/")
    for path in paths:
        page.goto(f"{address}{path}")
        found = Axe().run(page).response["violations"]
        assert [(path, one["id"], one["impact"], one["nodes"][0]["html"]) for one in found] == []
    context.close()


def test_a_phone_shows_all_of_it_without_moving_the_page(chromium: Any, address: str) -> None:
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for path in PAGES:
        page.goto(f"{address}{path}")
        wide, seen = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= seen, path
    context.close()


def test_keys_are_enough(chromium: Any, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{address}/facts?user=mirela")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Words")).to_be_focused()
    page.keyboard.type("Graz")
    page.keyboard.press("Enter")
    expect(page.locator("caption")).to_contain_text("1 of")
    link = page.locator("tbody a").first
    for _ in range(30):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Dana lives in Graz")
    context.close()


def test_without_scripts_everything_is_there(chromium: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/graph?user=mirela&day=4")
    expect(page.locator("main")).to_contain_text("lives in Vienna")
    context.close()
