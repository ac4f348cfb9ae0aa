"""A headless Chromium for the tests: no network, a fresh profile, and a log of everything that the page asks for."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


def need():
    """Ends the test as skipped, with the reason, where there is no browser to drive."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        skip("Selenium is not installed for " + sys.executable + " (Debian: python3-selenium)")
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed (Debian: chromium chromium-driver)")


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def megaup(*arguments, status=(0,), environment=None):
    """Standard output of the program, whose exit status must be one of `status`."""
    done = subprocess.run([os.environ["MEGAUP"], *map(str, arguments)], capture_output=True, text=True, timeout=100,
                          env={**os.environ, **(environment or {})}, check=False)
    assert done.returncode in status, (arguments, done.returncode, done.stderr)
    return done.stdout


class Browser:
    def __init__(self, downloads, width=1280, height=900):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.profile = tempfile.mkdtemp(prefix="megaup-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in [*FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        self.requests, self.complaints = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path, fragment=""):
        self.driver.get("about:blank")  # a change of the fragment alone would not load the page anew
        self.driver.get(f"file://{path}" + ("#" + fragment if fragment else ""))

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        assert len(found) == 1, (selector, len(found))
        return found[0]

    def choose(self, identifier, value):
        from selenium.webdriver.support.ui import Select

        Select(self.one("#" + identifier)).select_by_value(value)

    def type(self, identifier, value):
        box = self.one("#" + identifier)
        box.clear()
        box.send_keys(value)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def media(self, media="", scheme="light"):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def collect(self):
        """Adds what was logged since the last call to self.requests (addresses) and self.complaints (console)."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        self.complaints += [entry["message"] for entry in self.driver.get_log("browser")]
