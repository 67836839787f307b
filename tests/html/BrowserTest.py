"""Pages opened in a browser and used by its keys.

usage: BrowserTest.py PLANC

Needs chromium, its driver and python3-selenium; without them it is skipped.
"""
import os
import shutil
import sys
import tempfile

SYSTEM_PYTHON = "/usr/bin/python3"


def skip(why):
    print("skipped:", why)
    sys.exit(77)


try:
    from selenium import webdriver
except ImportError:
    # Debian installs it for its own interpreter only.
    if sys.executable == SYSTEM_PYTHON or not os.path.exists(SYSTEM_PYTHON):
        skip("python3-selenium is not installed")
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])

from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from Pages import PLANS, SPILL, Checks, data_of, example, runs_of
from Numbers import shown_as, waterfall_of

ENTRIES = "return performance.getEntriesByType('resource').length"
NAMELESS = """
return [...document.querySelectorAll(
    'button, select, input, canvas, [role=img], [tabindex]')].filter((one) =>
  !(one.getAttribute('aria-label') || one.textContent.trim() ||
    (one.labels && one.labels.length && one.labels[0].textContent.trim())))
  .map((one) => one.outerHTML.slice(0, 90));
"""
HEADLESS = """
return [...document.querySelectorAll('section')].filter((one) =>
  !one.querySelector('h2')).length +
  [...document.querySelectorAll('th')].filter((one) => !one.scope).length +
  (document.querySelectorAll('h1').length === 1 ? 0 : 1);
"""
CONTRAST = """
const light = (text) => {
  const parts = text.match(/[0-9a-f]{2}/gi).map((hex) => {
    const one = parseInt(hex, 16) / 255;
    return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const style = getComputedStyle(document.documentElement);
const of = (name) => light(style.getPropertyValue(name).trim());
return ['--ink', '--soft', '--accent', '--good', '--bad'].map((name) =>
  ['--paper', '--panel'].map((under) => {
    const [a, b] = [of(name), of(under)].sort((x, y) => y - x);
    return [name, under, (a + 0.05) / (b + 0.05)];
  })).flat();
"""

# Texts of the timeline as they are drawn, each [text, left, right, y].
WRITTEN = """
const seen = [], proto = CanvasRenderingContext2D.prototype, real = proto.fillText;
proto.fillText = function (text, x, y) {
  const wide = this.measureText(text).width;
  const left = x - (this.textAlign === 'center' ? wide / 2 : this.textAlign === 'right' ? wide : 0);
  seen.push([text, left, left + wide, y]);
  real.call(this, text, x, y);
};
try { drawTimeline(); } finally { proto.fillText = real; }
return seen;
"""


class Browser:
    def __init__(self, checks):
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.checks = checks

    def media(self, **features):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": features.pop("media", "screen"),
            "features": [{"name": "prefers-color-scheme",
                          "value": features.get("scheme", "light")}]})

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1,
             "mobile": width < 500})

    def open(self, name, path):
        self.name = name
        self.driver.get("file://" + path)
        WebDriverWait(self.driver, 30).until(lambda driver: self.ask(
            "return document.documentElement.dataset.ready || null"))

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def check(self, holds, text):
        self.checks.check(holds, f"{self.name}: {text}")

    def wait(self, text, script):
        """Fails with `text` where the script does not come true."""
        try:
            WebDriverWait(self.driver, 10).until(lambda _: self.ask(script))
            self.check(True, text)
        except TimeoutException:
            self.check(False, text)

    def log(self):
        rows = self.driver.get_log("browser")
        self.check(not rows, f"the console says {rows}")


def check_numbers(browser, report, text):
    rows = browser.ask("return [...document.querySelectorAll('[data-of]')]"
                       ".map((one) => [one.dataset.of, one.textContent])")
    browser.check(len(rows) > 15, f"only {len(rows)} figures")
    for of, shown in rows:
        if of.startswith("waterfall."):
            continue
        wanted = shown_as(report, of)
        browser.check(shown == wanted, f"{of} is {shown}, not {wanted}")
    parts = browser.ask(
        "return [...document.querySelectorAll('#waterfall tbody tr')]"
        ".map((one) => [one.children[0].textContent, one.children[1].textContent])")
    wanted = waterfall_of(text)
    browser.check([tuple(part) for part in parts] == wanted,
                  f"waterfall {parts}, not {wanted}")


def check_keys(browser):
    """The picture by keys alone: found, zoomed, moved, read."""
    canvas, span = browser.find("canvas"), browser.find("range")
    body = browser.driver.find_element(By.TAG_NAME, "body")
    for _ in range(60):
        body.send_keys(Keys.TAB)
        body = browser.driver.switch_to.active_element
        if body.get_attribute("id") == "canvas":
            break
    browser.check(body == canvas, "Tab does not come to the picture")
    settled = lambda: browser.driver.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    whole = span.text
    canvas.send_keys("+", "+", "+")
    settled()
    near = span.text
    browser.check(near != whole, f"+ leaves {whole}")
    canvas.send_keys(Keys.ARROW_RIGHT)
    settled()
    browser.check(span.text != near, f"an arrow leaves {near}")
    canvas.send_keys(Keys.ARROW_LEFT)
    settled()
    browser.check(span.text == near, f"back is {span.text}, not {near}")
    canvas.send_keys("-", "-", "-", "-")
    settled()
    browser.check(span.text == whole, f"- gives {span.text}, not {whole}")
    detail = browser.find("detail")
    canvas.send_keys(".")
    first = detail.text
    browser.check("stage 0" in first and ".plan:" in first,
                  f"a block says `{first}`")
    canvas.send_keys(".", ".")
    browser.check(detail.text != first, "the next block says the same")
    canvas.send_keys(",", ",")
    browser.check(detail.text == first, "back at the block is another text")
    canvas.send_keys(Keys.ESCAPE, "0")
    browser.check(detail.text == "", "Escape leaves a block")


def check_pointer(browser):
    """The middle of the first row is a block, and it says which line."""
    canvas = browser.find("canvas")
    browser.ask("arguments[0].scrollIntoView({block: 'start'})", canvas)
    x, y = browser.ask(
        "const one = view.rows[0], track = one.track, box ="
        " document.getElementById('canvas').getBoundingClientRect();"
        "const i = track.count >> 1;"
        "return [box.left + xOf(track.begins[i] + kinds[track.kinds[i]].ticks / 2),"
        " box.top + one.y + one.height / 2]")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": "none" if kind ==
            "mouseMoved" else "left", "clickCount": 1})
    text = browser.find("detail").text
    browser.check("stage 0" in text and ".plan:" in text,
                  f"a click says `{text}`")


def check_spill(browser, report, picture):
    """Where the step as drawn is longer than the step, the page says so."""
    drawn = picture["length"] * picture["tick_s"]
    text = browser.find("spill").text
    browser.check(("into the next" in text)
                  == (drawn > report["step_time_s"] * 1.001),
                  f"{drawn} s of {report['step_time_s']} s: `{text}`")


def check_margins(browser):
    """Names are whole and times apart, however near one looks."""
    canvas, width = browser.find("canvas"), browser.ask("return innerWidth")
    names = set(browser.ask("return view.rows.filter((one) => one.name !== null)"
                            ".map((one) => one.isCompute ?"
                            " stages[one.stage].name : one.track.name)"))
    canvas.send_keys("0")
    for nearer in range(12):
        written = browser.ask(WRITTEN)
        cut = [one for one in written if one[1] < 0]
        browser.check(not cut, f"{width} wide: cut at the left: {cut}")
        browser.check(names <= {one[0] for one in written},
                      f"{width} wide: no {names - {one[0] for one in written}}")
        times = [one for one in written if one[3] == 11]
        browser.check(len(times) >= 1, f"{width} wide, {nearer} +: {times}")
        close = [(a[0], b[0]) for a, b in zip(times, times[1:])
                 if b[1] - a[2] < 8]
        browser.check(not close, f"{width} wide, {nearer} +: {close} collide")
        canvas.send_keys("+")
    canvas.send_keys("0")


def check_grid(browser, program):
    """Each pass is a cell, in a column after all that it needs."""
    cells = browser.ask("return cells.rows.map((list) => list.map((pass) =>"
                        " [pass.batch, pass.column]))")
    runs = runs_of(program)
    browser.check([[cell[0] for cell in row] for row in cells]
                  == [[run[1] for run in row] for row in runs],
                  "cells are not the passes of the program")
    at, chunks = {}, 1 + max(run[2] for row in runs for run in row)
    for row, passes in zip(cells, runs):
        browser.check(all(a[1] < b[1] for a, b in zip(row, row[1:])),
                      "two passes of a stage in one column")
        for (_, column), (name, batch, chunk, other, beside) in zip(row, passes):
            if name != "weight-gradient":
                at[name, batch, chunk] = column
            if other >= 0:
                at["backward", other, beside] = column
    early = 0
    for (name, batch, chunk), column in at.items():
        before = chunk - 1 if name == "forward" else chunk + 1
        if 0 <= before < chunks:
            early += at[name, batch, before] >= column
        if name == "backward":
            early += at["forward", batch, chunk] >= column
    browser.check(len(at) > 0 and early == 0,
                  f"{early} of {len(at)} cells before what they need")


def check_looks(browser, path):
    back = "return getComputedStyle(document.documentElement).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        browser.media(scheme=scheme)
        browser.open(browser.name, path)
        seen[scheme] = browser.ask(back)
        for name, under, ratio in browser.ask(CONTRAST):
            browser.check(ratio >= 4.5,
                          f"{scheme}: {name} on {under} is {ratio:.2f}")
    browser.check(seen["light"] != seen["dark"], f"dark is {seen['dark']}")
    browser.media(media="print", scheme="dark")
    browser.check(browser.ask(back) == seen["light"], "paper is not light")
    browser.check(not browser.find("canvas").find_element(
        By.XPATH, "../../div[@class='controls']").is_displayed(),
        "buttons on paper")
    # Drawn anew when the page hears of it.
    browser.wait("the schedule is cut on paper",
                 "return cells.rows.length === 0 ||"
                 " cells.columns * cells.size <= innerWidth")
    browser.media(scheme="light")
    browser.size(390)
    browser.open(browser.name, path)
    width = browser.ask("return document.documentElement.scrollWidth")
    browser.check(width <= 390, f"{width} pixels wide on a phone")
    check_margins(browser)
    browser.size(1440)


def main():
    checks = Checks(sys.argv[1])
    browser = Browser(checks)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for stages, plan in PLANS.items():
                path = os.path.join(folder, f"{stages}.html")
                checks.run("report", plan, "-o", path)
                browser.media(scheme="light")
                browser.size(1440)
                browser.open(f"{stages} stages", path)
                with open(path) as page:
                    data = data_of(page.read())
                report = data["report"]
                check_numbers(browser, report, checks.run(plan))
                browser.check(browser.ask(ENTRIES) == 0, "it loads something")
                browser.check(browser.ask(NAMELESS) == [], "without a name: "
                              + str(browser.ask(NAMELESS)))
                browser.check(browser.ask(HEADLESS) == 0, "heads are missing")
                browser.check((browser.ask("return cells.rows.length") == stages)
                              == (stages > 1), "no schedule")
                check_keys(browser)
                check_pointer(browser)
                check_spill(browser, report, data["picture"])
                check_margins(browser)
                if stages in (1, 16):
                    check_looks(browser, path)
                browser.log()
            path = os.path.join(folder, "spill.html")
            checks.run("report", SPILL, "-o", path)
            browser.open("spill", path)
            browser.check("into the next" in browser.find("spill").text,
                          "the page does not say what ends in the next step")
            for name in ("deepseek_v3", "llama3_405b"):  # both directions; loops
                path = os.path.join(folder, name + ".html")
                checks.run("report", example(name), "-o", path)
                browser.open(name, path)
                check_grid(browser, checks.run("emit", example(name),
                                               "--stage=program"))
                browser.log()
    finally:
        browser.driver.quit()
    checks.end()


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    skip("chromium or its driver is not installed")
main()
