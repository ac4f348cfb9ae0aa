"""Syntax of the page's three sources: HTML by html5lib, CSS by tinycss2 and the browser, JavaScript by the browser. No mistake is accepted.

Browsers repair HTML and drop CSS that they do not understand without a word, so opening the page shows neither. Each check is first shown a
mistake that it must see.
"""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser as browser_module
from browser import Browser, skip

browser_module.need()
try:
    import html5lib
    import tinycss2
except ImportError as error:
    skip(f"{error.name} is not installed for {sys.executable} (Debian: python3-html5lib python3-tinycss2)")

SOURCES = pathlib.Path(os.environ["MEGAUP_SOURCE"]) / "analysis" / "report"
LISTS = {"media", "supports", "layer"}  # at-rules that hold rules


def html_mistakes(text):
    parser = html5lib.HTMLParser()
    parser.parse(text)
    return [f"page.html:{line}:{column}: {html5lib.constants.E[code] % data}" for (line, column), code, data in parser.errors]


def css_rules(nodes, found, mistakes):
    """Collects (line, property, value) of every declaration; what is no rule and no declaration is a mistake."""
    for node in nodes:
        if node.type == "error":
            mistakes.append(f"page.css:{node.source_line}:{node.source_column}: {node.message}")
        elif node.type == "at-rule" and node.lower_at_keyword in LISTS:
            css_rules(tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True), found, mistakes)
        elif node.content is not None:
            for inner in tinycss2.parse_declaration_list(node.content, skip_comments=True, skip_whitespace=True):
                if inner.type == "declaration":
                    found.append((inner.source_line, inner.name, tinycss2.serialize(inner.value).strip()))
                else:
                    mistakes.append(f"page.css:{inner.source_line}:{inner.source_column}: {getattr(inner, 'message', 'no declaration')}")


def css_mistakes(page, text):
    found, mistakes = [], []
    css_rules(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True), found, mistakes)
    refused = page.js("return arguments[0].map(([, name, value]) => name.startsWith('--') || CSS.supports(name, value))", found)
    # `size`, `margin` and such inside @page are descriptors; only those that are also properties are used here.
    return mistakes + [f"page.css:{line}: {name}: {value}" for (line, name, value), known in zip(found, refused) if not known]


def selector_mistakes(page, text):
    selectors = []

    def collect(nodes):
        for node in nodes:
            if node.type == "qualified-rule":
                selectors.append((node.source_line, tinycss2.serialize(node.prelude).strip()))
            elif node.type == "at-rule" and node.lower_at_keyword in LISTS:
                collect(tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True))

    collect(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True))
    assert len(selectors) > 50
    bad = page.js("""return arguments[0].filter(([, selector]) => { try { document.querySelector(selector); return false; } catch { return true; } })""", selectors)
    return [f"page.css:{line}: selector {selector}" for line, selector in bad]


def js_mistakes(page, text):
    """Compiles the script without running it."""
    said = page.js("try { new Function(arguments[0]); return null; } catch (error) { return String(error); }", text)
    return [f"page.js: {said}"] if said else []


def sources():
    return {name: (SOURCES / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")}


def main():
    text = sources()
    with tempfile.TemporaryDirectory(prefix="megaup-syntax-") as name, Browser(downloads=name) as page:
        page.driver.get("about:blank")
        assert html_mistakes(text["page.html"].replace("</main>", "</div>")), "an end tag without a start"
        assert html_mistakes(text["page.html"].replace("<!doctype html>", ""))
        assert css_mistakes(page, text["page.css"].replace("grid-template-columns:", "grid-template-column:", 1)), "an unknown property"
        assert css_mistakes(page, text["page.css"].replace("display: grid;", "display grid;", 1)), "no declaration"
        assert css_mistakes(page, text["page.css"] + "\n.lost { color: red; } }"), "a brace too many"
        assert selector_mistakes(page, text["page.css"] + "\na:::b { color: red; }")
        assert js_mistakes(page, text["page.js"].replace("(() => {", "(() = {", 1))
        mistakes = [*html_mistakes(text["page.html"]), *css_mistakes(page, text["page.css"]), *selector_mistakes(page, text["page.css"]),
                    *js_mistakes(page, text["page.js"])]
    assert not mistakes, "\n".join(mistakes)
    print("no mistake in page.html, page.css and page.js")


if __name__ == "__main__":
    main()
