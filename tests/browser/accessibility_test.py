"""Runs axe-core over the report page: light and dark, wide and narrow, with a row open. No violation is accepted.

axe-core comes from the Python package axe-playwright-python (only its axe.min.js is used); without it the test is skipped.
"""

import importlib.util
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser as browser_module
import records
from browser import Browser, megaup, skip

browser_module.need()


def axe_source():
    for package in ("axe_playwright_python", "axe_core_python"):
        found = importlib.util.find_spec(package)
        for place in found.submodule_search_locations if found else []:
            script = pathlib.Path(place) / "axe.min.js"
            if script.exists():
                return script.read_text(encoding="utf-8")
    skip("axe-core is not installed (PyPI: axe-playwright-python, without its dependencies)")


def violations(page, axe):
    page.js(axe)
    page.driver.set_script_timeout(60)
    found = page.driver.execute_async_script("axe.run(document).then(arguments[0])")
    assert len(found["passes"]) > 20, "axe looked at the page"
    return [(rule["id"], node["html"][:160], node["failureSummary"]) for rule in found["violations"] for node in rule["nodes"]]


def main():
    axe = axe_source()
    with tempfile.TemporaryDirectory(prefix="megaup-axe-") as name:
        folder = pathlib.Path(name)
        records.write_mixed(folder / "mixed.h5")
        out = folder / "page.html"
        megaup("report", folder / "mixed.h5", "-o", out, status=(3,))
        found = []
        for width in (1280, 420):
            with Browser(downloads=folder, width=width) as page:
                for scheme in ("light", "dark"):
                    page.media("", scheme)
                    page.open(out, "open=0,28&h=0.2")
                    found += [(width, scheme, *violation) for violation in violations(page, axe)]
        assert not found, "\n".join(map(str, found))
    print("no violation")


if __name__ == "__main__":
    main()
