"""Prints how evenly the explorers move while they play: a measurement, not a test.

    python tests/browser/frames.py [page ...]      (make frames; needs the built site and Chromium)

For each explorer with a Play button: the time from frame to frame while it plays, and the tasks
that kept the page from drawing for 50 ms and more. Without a graphics card a frame is drawn by the
processor, so compare numbers of one machine only.
"""

from __future__ import annotations

import shutil
import statistics
import sys

import conftest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(conftest.ROOT / "book" / "_ext"))

from pdf import served

PAGES = ["book/02_seq2seq.html", "book/03_bahdanau.html"]
SECONDS = 6
MEASURE = """
async ([button, seconds]) => {
  const gaps = [], tasks = [];
  const watcher = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) tasks.push(entry.duration);
  });
  watcher.observe({ type: "longtask" });
  button.click();
  const end = performance.now() + 1000 * seconds;
  let last = await new Promise(requestAnimationFrame);
  while (last < end) {
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  watcher.disconnect();
  button.click();
  return { gaps, tasks };
}
"""


def main(pages: list[str]) -> int:
    """Play each explorer of the pages and print its frames."""
    executable = next(filter(None, map(shutil.which, conftest.BROWSERS)), None)
    if executable is None:
        print("Chromium is needed; install it, such as: apt install chromium", file=sys.stderr)
        return 1
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=conftest.FLAGS)
        page = browser.new_page()
        for path in pages:
            with served(conftest.site_folder()) as address:
                page.goto(address + path, wait_until="load")
                page.locator("[class$=-explorer]").first.wait_for(timeout=120_000)
                for button in page.get_by_role("button", name="Play", exact=True).all():
                    button.scroll_into_view_if_needed()
                    measured = button.evaluate_handle("button => button")
                    found = page.evaluate(MEASURE, [measured, SECONDS])
                    gaps = sorted(found["gaps"])
                    late = sum(gap > 34 for gap in gaps)
                    print(
                        f"{path}: {len(gaps)} frames in {SECONDS} s, "
                        f"median {statistics.median(gaps):.1f} ms, "
                        f"95 % below {gaps[int(0.95 * len(gaps))]:.1f} ms, {late} over 34 ms; "
                        f"{len(found['tasks'])} tasks over 50 ms"
                    )
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PAGES))
