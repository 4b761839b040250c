"""Page objects for JupyterLab: the steps of teacher and student, named as in the guide."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

from tests.browser.jupyterlab_server import Desk

PATIENCE = 240_000  # milliseconds for each step, enough for a busy machine
WIDTH, HEIGHT = 1280, 800


class Screens:
    """Writes screenshots of the steps to the folder COURSE_SCREENS, if it is set."""

    def __init__(self) -> None:
        name = os.environ.get("COURSE_SCREENS")
        self.folder = Path(name) if name else None

    def take(self, page: Any, name: str, top: float = 0, bottom: float = HEIGHT) -> None:
        """Write the part of the page between two heights, without the parts that vary."""
        if self.folder is None:
            return
        page.mouse.move(WIDTH / 2, HEIGHT - 2)  # avoids a tooltip or a highlighted row
        clip = {"x": 0, "y": round(top), "width": WIDTH, "height": round(bottom - top)}
        png = page.screenshot(clip=clip, animations="disabled", caret="hide")
        self.folder.mkdir(parents=True, exist_ok=True)
        picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(200, dither=Image.Dither.NONE)
        picture.save(self.folder / f"{name}.png", optimize=True)


class Lab:
    """JupyterLab in a browser that can reach no other host."""

    def __init__(self, chromium: Any, desk: Desk):
        self.desk = desk
        self.foreign: set[str] = set()
        self.broken: set[str] = set()
        self.context = chromium.new_context(
            color_scheme="light",
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=1,
            proxy={"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"},  # nothing listens there
        )
        self.context.on("request", self._note_request)
        self.context.on("response", self._note_response)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.set_default_navigation_timeout(PATIENCE)

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith((self.desk.address, "data:", "blob:", "about:")):
            self.foreign.add(request.url)

    def _note_response(self, response: Any) -> None:
        if response.status >= 500:
            self.broken.add(f"{response.status} {response.url}")

    def open(self, path: str = "") -> None:
        """Open JupyterLab, with or without a file."""
        self.page.goto(self.desk.lab(path))
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").wait_for()
        self.page.locator("#jp-main-dock-panel .lm-TabBar-tab").first.wait_for()
        self.page.locator("#filebrowser").wait_for()

    def show_files(self, shown: bool) -> None:
        """Open or close the file browser on the left, which shows the age of each file."""
        files = self.page.locator("#filebrowser")
        # JupyterLab may also open it by itself, with a delay.
        for _ in range(60):
            if files.is_visible() == shown:
                return
            self.page.keyboard.press("Control+b")
            self.page.wait_for_timeout(1000)
        raise AssertionError(f"the list of files does not become {shown=}")

    def menu(self, item: str) -> None:
        """Choose an item in the Nbgrader menu."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
        self.page.locator(".lm-Menu .lm-Menu-itemLabel").get_by_text(item, exact=True).click()

    def tab(self, title: str) -> None:
        """Activate an open tab."""
        self.page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text=title).click()


class Notebook:
    """The visible notebook."""

    def __init__(self, lab: Lab):
        self.page = lab.page
        self.panel = lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()  # kernel is ready
        self.cell("import torch").wait_for()

    def cell(self, text: str) -> Any:
        """Return the code cell with this text."""
        return self.panel.locator(".jp-CodeCell").filter(has_text=text).first

    def run(self, cell: Any, cells: int = 1) -> None:
        """Run a cell and the cells after it."""
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-content").click()
        for _ in range(cells):
            self.page.keyboard.press("Shift+Enter")

    def answer(self, exercise: str, line: str) -> Any:
        """Type an answer in place of the stub, run it and its check; return the card."""
        cell = self.cell(f"def {exercise}(")
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-line", has_text="raise NotImplementedError()").click()
        self.page.keyboard.press("Home")
        self.page.keyboard.press("Shift+End")
        self.page.keyboard.type(line)
        self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")
        card = self.cell(f"check({exercise})").locator(".jp-OutputArea-output div[role=status]")
        card.wait_for()
        return card

    def validate(self) -> Any:
        """Press the Validate button and return the dialogue that it opens."""
        self.panel.locator(".validate-button").click()
        dialogue = self.page.locator(".jp-Dialog")
        dialogue.wait_for()
        return dialogue


class AssignmentList:
    """The student's list of assignments."""

    def __init__(self, lab: Lab):
        self.page = lab.page
        lab.menu("Assignment List")

    def part(self, name: str) -> Any:
        """Return the released, fetched or submitted part of the list."""
        return self.page.locator(f"#{name}_assignments_list > .list_item")

    def press(self, part: str, button: str, then: str) -> None:
        """Press a button in one part of the list, and wait until the row is in another part."""
        self.part(part).get_by_role("button", name=button).click()
        self.part(then).first.wait_for()

    def open_notebook(self, name: str) -> None:
        """Open a notebook of a fetched assignment."""
        self.page.locator("#fetched_assignments_list a.assignment-notebooks-link").click()
        self.page.locator("#fetched_assignments_list a").get_by_text(name, exact=True).click()


class Formgrader:
    """The instructor's page, inside JupyterLab."""

    def __init__(self, lab: Lab):
        self.page = lab.page
        lab.menu("Formgrader")
        self.frame = lab.page.frame_locator("iframe")

    def row(self, text: str) -> Any:
        """Return the row of an assignment or student."""
        cell = self.page.locator("td", has_text=text)
        return self.frame.locator("#main-table tr", has=cell).first

    def press(self, row: str, column: str) -> str:
        """Press a row's button, and return nbgrader's message when it is done."""
        self.row(row).locator(f"td.{column} a").click()
        said = self.frame.locator("#success-modal, #error-modal")
        said.wait_for()
        text = str(said.inner_text())
        assert said.get_attribute("id") == "success-modal", text
        said.locator(".modal-footer button").click()
        said.wait_for(state="detached")
        return text

    def link(self, text: str) -> None:
        """Follow a link."""
        self.frame.get_by_role("link", name=text).first.click()

    def give(self, field: str, text: str, kind: str) -> None:
        """Type into a field for points or comments, and wait until it is saved."""
        box = self.frame.locator(f"#{field}")
        with self.page.expect_response(
            lambda r: f"/formgrader/api/{kind}/" in r.url and r.request.method == "PUT"
        ):
            box.fill(text)
            box.press("Tab")
