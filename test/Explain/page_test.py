#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of mesh-opt --explain=FILE.html in a real browser without a window.

The browser is driven by its DevTools protocol over two pipes: messages are JSON with a zero
byte at the end. Skips (77) where no Chromium is found.

usage: page_test.py MESH_OPT FOLDER_OF_PROGRAMS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One tab of a headless browser."""

    def __init__(self, program, profile):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def connect():  # the protocol is on the descriptors 3 and 4
            first, second = os.dup(commands), os.dup(answers)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={profile}"],
            preexec_fn=connect, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.number, self.session, self.errors = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        """Returns the result of a command; notes what the page reports meanwhile."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise RuntimeError("the browser ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        answer = json.loads(text)
        if answer.get("method") == "Runtime.exceptionThrown":
            self.errors.append(answer["params"]["exceptionDetails"])
        url = answer.get("params", {}).get("request", {}).get("url", "")
        if url and not url.startswith(("file:", "data:")):
            self.errors.append(f"the page asks for {url}")
        return answer

    def open(self, path):
        self.send("Page.navigate", url=path.as_uri())
        for _ in range(200):
            if self.value("document.readyState") == "complete":
                return
            time.sleep(0.05)
        raise RuntimeError(f"{path} was not loaded")

    def value(self, script):
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Enter": 13, "Tab": 9}.get(key, 0))

    def close(self):
        os.close(self.commands)
        self.process.wait(30)


def check(condition, text):
    if not condition:
        raise AssertionError(text)


SELECTED = "document.querySelector('#graph [aria-selected]')"


def check_sections(browser):
    """Every section of the MNIST step has its content, and errors there are none."""
    check(browser.value("document.getElementById('title').textContent") == "main", "title")
    check("batch=8" in browser.value("document.getElementById('axes').textContent"), "axes")
    check(browser.value("document.querySelectorAll('#collectives tbody tr').length") > 0,
          "no collective has a row")
    check("'batch' from argument 'x'" in browser.value("document.querySelector('#collectives').textContent"),
          "the collective's cause is not told")
    check("Rejected" in browser.value("document.querySelector('#collectives').textContent"),
          "the rejected plan is not told")
    for name in ("memory", "timeline"):
        check(browser.value(f"document.querySelectorAll('#{name} rect').length") > 5,
              f"the picture of {name} is empty")
    check(browser.value("document.getElementById('suggestions').hidden"), "suggestions without any")
    check(browser.value("document.querySelectorAll('#graph path').length") > 5, "no edges")


def check_keyboard(browser):
    """Arrows move in the tree, which has one stop for the Tab key."""
    check(browser.value("document.querySelectorAll('#graph [tabindex=\"0\"]').length") == 1,
          "the tree must be one stop of the Tab key")
    browser.value(f"{SELECTED}.focus()")
    first = browser.value(f"{SELECTED}.id")
    browser.press("ArrowDown")
    second = browser.value(f"{SELECTED}.id")
    check(first != second, "ArrowDown does not move")
    check(browser.value("document.activeElement.id") == second, "the focus does not follow")
    browser.press("ArrowUp")
    check(browser.value(f"{SELECTED}.id") == first, "ArrowUp does not move back")
    check(browser.value("[...document.querySelectorAll('#graph [role=treeitem]')]"
                        ".every((node) => node.getAttribute('aria-label'))"),
          "an item has no label")


def check_parts(browser):
    """A tensor shows its parts, and a part its devices."""
    browser.value("document.querySelector('#layouts .tensor').click()")
    parts = browser.value("document.querySelectorAll('#details .part').length")
    check(parts == 8, f"x lies in 8 parts, and the picture shows {parts}")
    browser.value("document.querySelectorAll('#details .part')[3].focus()")
    status = browser.value("document.querySelector('#details [role=status]').textContent")
    check("[48:64, 0:784] is on 1 device: 3" in status, f"the part's text is '{status}'")


def check_source(browser):
    """A link goes to a line of the source that the page has."""
    browser.value("document.querySelector('#details button').click()")
    href = browser.value("document.querySelector('#details a.code').getAttribute('href')")
    check(browser.value(f"document.querySelector('{href}').textContent.includes('dtensor.')"),
          "the link leads to no line of the program")


def check_folds(browser):
    """A loop unfolds and folds by Enter, and only what is unfolded is drawn."""
    count = "document.querySelectorAll('#graph [role=treeitem]').length"
    loop = "document.querySelector('#graph [aria-expanded]')"
    browser.value(f"{loop}.click()")
    expanded = browser.value(f"{SELECTED}.getAttribute('aria-expanded')")
    before = browser.value(count)
    browser.press("Enter")
    after = browser.value(count)
    check(after < before if expanded == "true" else after > before,
          f"Enter leaves {after} of {before} items")
    browser.press("Enter")
    check(browser.value(count) == before, "Enter twice is not as before")


def check_large(browser):
    """Of many bars those are drawn that can be told apart, and many lines when they are asked for."""
    bars = "Array.from({length: 10000}, (_, i) => ({row: 0, x: i / 10, y: 0, width: 0.1, height: i % 10, title: i}))"
    titles = json.loads(browser.value(f"JSON.stringify(distinctBars({bars}).map((bar) => bar.title))"))
    check(titles == [f"{10 * i + 9}, and 9 more" for i in range(1000)],
          f"the bars of a unit are not one with the title of the largest: {titles[:2]}")
    browser.value("FACTS.sources[0].lines = Array.from({length: 3000}, (_, i) => [i, 'line']); showSource()")
    lines = "document.querySelectorAll('#source span').length"
    check(browser.value(lines) == 0, "all lines of a large source are there at once")
    browser.value("location.hash = '#source-0-2999'; window.dispatchEvent(new Event('hashchange'))")
    check(browser.value(lines) == 3000, "a link to a large source leads to no line")


def main():
    tool, programs = sys.argv[1], pathlib.Path(sys.argv[2])
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        print(f"skipped: there is none of {', '.join(BROWSERS)} on PATH")
        return 77
    with tempfile.TemporaryDirectory(prefix="meshloom-page-", ignore_cleanup_errors=True) as folder:
        browser = Browser(program, f"{folder}/profile")
        for source, checks in (
            ("mnist_mlp_step", (check_sections, check_keyboard, check_parts, check_source, check_large)),
            ("scan_over_layers", (check_folds,)),
        ):
            page = pathlib.Path(folder) / f"{source}.html"
            subprocess.run([tool, programs / f"{source}.mlir", "--machine=ring", f"--explain={page}"],
                           check=True)
            browser.open(page)
            for one in checks:
                one(browser)
        check(not browser.errors, f"the page reports {browser.errors}")
        browser.close()
    print("the page works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
