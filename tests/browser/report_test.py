"""Drives the report page as a reader would, in a headless browser, and compares it with `analyze --format json`.

Times are printed, never judged: they are the machine's. MEGAUP is the program, MEGAUP_SOURCE the source tree.
"""

import base64
import csv
import decimal
import io
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser as browser_module
import records
from browser import Browser, megaup

browser_module.need()
from selenium.webdriver.common.keys import Keys

GOLDEN = pathlib.Path(os.environ["MEGAUP_SOURCE"]) / "tests" / "golden"
decimal.getcontext().prec = 1100  # a double has an exact decimal value; rounding must see all of it


def rounded(value, shown):
    """`value` with as many decimals as the text `shown`, ties to even, with a sign where the text has one."""
    decimals = len(shown.partition(".")[2])
    text = str(decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-decimals), decimal.ROUND_HALF_EVEN))
    return "+" + text if shown.startswith("+") and not text.startswith("-") else text


def is_shown(value, shown):
    assert rounded(value, shown) == shown, (value, shown)


def visible(page):
    """What a reader sees of each row: model, CP, tokens, Delta, words, side."""
    return page.js("""return [...document.querySelectorAll('#rows > tr.row')].map(row => ({
      row: Number(row.dataset.row), model: row.querySelector('button').textContent, cp: row.cells[1].textContent, tokens: row.cells[2].textContent,
      delta: row.cells[4].textContent, words: [...row.cells[5].childNodes].map(node => node.nodeName === 'BR' ? '\\n' : node.textContent).join(''), name: row.querySelector('td.words b').textContent,
      side: ['saves', 'costs', 'unsure', 'none'].filter(side => row.classList.contains(side)).join()}))""")


def make(folder, name, *files, status=(0,), options=(), environment=None):
    out = folder / name
    megaup("report", *files, "-o", out, *options, status=status, environment=environment)
    return out


def check_numbers(page, folder):
    mixed = folder / "mixed.h5"
    page.open(make(folder, "mixed.html", mixed, status=(3,)))
    rows = json.loads(megaup("analyze", mixed, "--format", "json", status=(3,)))["rows"]
    seen = visible(page)
    assert len(seen) == len(rows) == 29
    for got, want in zip(seen, rows):
        assert (got["model"], got["cp"], got["tokens"]) == (want["model"], str(want["cp"]), str(want["tokens_per_rank"]))
        if want["delta_ms"] is None:
            assert got["delta"] == "none" and got["side"] == "none" and want["reason"] in got["words"], got
            continue
        is_shown(want["delta_ms"], got["delta"])
        assert got["name"] == want["verdict"] and want["verdict_reason"] in got["words"], got
    assert {got["side"] for got in seen} == {"saves", "costs", "unsure", "none"}
    data = page.js("return JSON.parse(document.getElementById('data').textContent).rows")
    for got, want in zip(data, rows):
        if want["delta_ms"] is None:
            continue
        for (value, shown), wanted in ((got["delta"], want["delta_ms"]), (got["interval"][0], want["interval_ms"][0]),
                                       (got["interval"][1], want["interval_ms"][1]), (got["safe"], want["h_safe_ms"]),
                                       (got["resolution"], want["resolution_ms"]), (got["possible"], want["possible_ms"])):
            assert value == wanted
            is_shown(wanted, shown)
        for operation, wanted in zip(got["operations"], want["operations"]):
            keys = ("baseline_ms", "candidate_ms", "delta_ms", "gemm_ms", "exchange_ms", "reorder_ms", "floor_ms")
            for shown, key in zip(operation["numbers"], keys):
                assert (shown is None) == (wanted[key] is None)
                if shown is not None:
                    is_shown(wanted[key], shown)
            is_shown(100 * wanted["realised"], operation["numbers"][7])


def check_filters_and_order(page):
    def axis():
        return page.js("return [...document.querySelectorAll('#axis span')].map(mark => mark.textContent)")

    whole = axis()
    page.choose("model", "llama-3.1-8b")
    assert {row["model"] for row in visible(page)} == {"llama-3.1-8b"} and len(visible(page)) == 10
    assert axis() != whole, "the scale follows the visible rows"
    page.choose("cp", "4")
    assert len(visible(page)) == 3 and "only model llama-3.1-8b, CP 4" in page.one("#count").text
    page.one("#keep").click()
    kept = axis()
    page.choose("model", "")
    assert axis() == kept and "scale kept" in page.one("#axis-title").text
    page.one("#reset").click()
    assert len(visible(page)) == 29 and axis() == whole
    page.choose("sort", "delta")
    deltas = [float(row["delta"]) for row in visible(page) if row["delta"] != "none"]
    assert deltas == sorted(deltas, reverse=True) and len(deltas) == 27
    assert [row["delta"] for row in visible(page)[-2:]] == ["none", "none"], "rows without a Delta stay, at the end"
    page.choose("show", "none")
    assert len(visible(page)) == 2
    page.one("#reset").click()
    page.choose("model", "llama-3.1-8b")
    page.choose("show", "costs")
    assert len(visible(page)) > 0
    page.choose("show", "none")
    page.choose("model", "gpt-3-175b")
    assert "No row passes" in page.one("#empty").text
    page.one("#reset").click()


def check_opening(page):
    page.one('tr[data-row="0"] td.bars').click()
    assert page.one('tr[data-row="0"] button').get_attribute("aria-expanded") == "true"
    details = page.one('tr[data-details="0"]')
    for words in ("qkv_dgrad", "GEMM alone", "realised", "from the initial blocks", "h_safe", "Mean of ranks", "Resolution", "blocks in the order they ran"):
        assert words in details.text, words
    assert len(page.all('tr[data-details="0"] svg')) == 4
    dots = page.js("return document.querySelector('tr[data-details=\"0\"] svg .dots').getAttribute('d').split('M').length - 1")
    assert dots == 4 * 40, "every observation of the four blocks"
    page.one('tr[data-row="0"] td.bars').click()
    assert not page.all('tr[data-details="0"]')

    page.js("document.querySelector('tr[data-row=\"1\"] button').focus()")
    page.press(Keys.ENTER)
    assert page.all('tr[data-details="1"]')
    page.press(Keys.ARROW_DOWN)
    page.press(Keys.SPACE)
    assert page.all('tr[data-details="2"]')
    page.press(Keys.ESCAPE)
    assert not page.all('tr[data-details="2"]') and page.all('tr[data-details="1"]')
    page.press(Keys.HOME)
    assert page.js("return document.activeElement.closest('tr').dataset.row") == "0"
    page.one("#reset").click()


def check_overhead(page, folder):
    before = visible(page)
    page.type("h", "0.25")
    asked = json.loads(megaup("analyze", folder / "mixed.h5", "--format", "json", "--h", "0.25 ms", status=(3,)))
    with_delta = [row for row in asked["rows"] if row["benefit"] is not None]
    benefits = sum(row["benefit"] for row in with_delta)
    assert f"{benefits} of the {len(with_delta)} measured rows with a Delta benefit (h < Delta)" in page.one("#h-words").text
    assert any(f"{benefits} of the {len(with_delta)} measured rows with a Delta benefit" in note for note in asked["notes"])
    after = visible(page)
    assert [row["side"] for row in after] != [row["side"] for row in before]
    for got, want in zip(after, asked["rows"]):
        if want["saving_ms"] is None:
            continue
        is_shown(want["saving_ms"], got["words"].split("\n")[1].split(" ms after h")[0])
        if want["verdict"] == "benefit" and want["h_safe_ms"] > 0.25:
            assert (got["side"], got["name"]) == ("saves", "benefit at this h")
        elif want["interval_ms"][1] < 0.25:
            assert (got["side"], got["name"]) == ("costs", "harm at this h")
        else:
            assert (got["side"], got["name"]) == ("unsure", "undecided at this h")
    page.js("document.getElementById('h-range').focus()")
    page.press(Keys.ARROW_RIGHT)
    assert float(page.one("#h").get_attribute("value")) > 0.25
    page.type("h", "a lot")
    assert page.one("#h").get_attribute("aria-invalid") == "true"
    page.one("#reset").click()
    assert visible(page) == before


def check_address(page):
    page.choose("cp", "8")
    page.choose("sort", "delta-up")
    page.type("h", "-0.1")
    page.all("#rows tr.row button")[0].click()
    address, rows = page.driver.current_url, visible(page)
    opened = page.one("tr.details").get_attribute("data-details")
    page.driver.switch_to.new_window("tab")
    page.driver.get(address)
    assert visible(page) == rows and len(rows) == 9
    assert page.one("#h").get_attribute("value") == "-0.1" and page.one("#sort").get_attribute("value") == "delta-up"
    assert page.one("tr.details").get_attribute("data-details") == opened
    page.driver.get(address.split("#")[0] + "#cp=77&sort=nonsense&h=x&open=999&model=%3Cb%3E")
    assert len(visible(page)) == 29, "an address that names nothing shows everything"


def check_csv(page, folder):
    page.choose("model", "qwen3-32b")
    page.one("#csv").click()
    path = folder / "megaup-rows.csv"
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    table = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    rows = [row for row in json.loads(megaup("analyze", folder / "mixed.h5", "--format", "json", status=(3,)))["rows"] if row["model"] == "qwen3-32b"]
    assert len(table) == len(rows) == 10
    for got, want in zip(table, rows):
        assert got["cell"] == want["cell"] and got["reason"] == want["reason"] and got["verdict"] == want["verdict"]
        for column, value in (("delta_ms", want["delta_ms"]), ("budget_ms", want["budget_ms"]), ("h_safe_ms", want["h_safe_ms"])):
            assert (got[column] == "") == (value is None) and (value is None or float(got[column]) == value)
    page.one("#reset").click()


def check_print(page):
    page.media("print")
    assert not page.one("#model").is_displayed() and not page.one("#csv").is_displayed()
    assert page.one("#notes").is_displayed() and page.all("#rows tr.row")[0].is_displayed()
    assert page.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.media("print", "dark")
    assert page.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "no dark paper"
    page.media("")
    before = page.js("return [...document.querySelectorAll('#rows > tr.row')].length")
    paper = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})["data"]
    pdf = base64.b64decode(paper)
    assert pdf.startswith(b"%PDF") and pdf.count(b"/Type /Page\n") + pdf.count(b"/Type/Page\n") >= 2, "29 rows and the notes take some pages"
    assert page.js("return [...document.querySelectorAll('#rows > tr.row')].length") == before
    page.driver.set_window_size(720, 900)  # about the width of a sheet of A4 without its margins
    page.media("print")
    assert page.js("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "nothing is cut at the edge"
    page.media("")
    page.driver.set_window_size(1280, 900)


def check_hostile(page, folder):
    nasty = "</script><img src=x onerror=document.title=1>"
    path = folder / "hostile-host.h5"
    with records.Writer(path, host=nasty, device=nasty) as out:
        out.cell("a<b>&\"'", records.noisy(records.np.random.default_rng(1), 0.1), model=nasty)
    for file in (GOLDEN / "hostile.h5", path):
        page.open(make(folder, file.stem + ".html", file))
        assert page.driver.title == "MegaUP report"
        assert nasty in [row["model"] for row in visible(page)], "shown as it is"
        assert not page.all("img")
        page.one("#rows tr.row:first-child button").click()
    assert page.one("#configuration").text.count(nasty) >= 2 and nasty in page.one("#files").text


def check_other_files(page, folder):
    empty = folder / "empty.h5"
    with records.Writer(empty):
        pass
    page.open(make(folder, "empty.html", empty, status=(3,)))
    assert page.one("h1").text == "There are no cells" and "no cells" in page.one("#empty").text

    failed = folder / "all-failed.h5"
    with records.Writer(failed) as out:
        for cp in (2, 4):
            out.cell(f"c{cp}", records.np.full((4, 2, 2, 40, 2), records.np.nan), cp=cp, status="failed", reason="NCCL timeout, rank 5")
    page.open(make(folder, "all-failed.html", failed, status=(3,)))
    assert page.one("h1").text == "None of 2 configurations could be compared"
    assert all("NCCL timeout, rank 5" in row["words"] for row in visible(page))

    one = folder / "one.h5"
    with records.Writer(one, source="simulated", fabric="emulated") as out:
        out.cell("only", records.noisy(records.np.random.default_rng(2), 0.2, blocks=4))
    page.open(make(folder, "one.html", one))
    assert [tag.text for tag in page.all("tr.row .tag")] == ["simulated", "emulated"]
    assert visible(page)[0]["name"] == "not measured", "a simulated row gets no verdict"
    page.open(make(folder, "both.html", one, folder / "mixed.h5", status=(3,)))
    assert len(visible(page)) == 30 and page.all("tr.simulated")
    assert "of 27 configurations" in page.one("h1").text and "1 more are simulated" in page.one("h1").text
    assert "of the 27 measured rows" in page.one("#h-words").text and "1 of the 1 simulated rows" in page.one("#h-words").text

    page.open(make(folder, "worked.html", GOLDEN / "worked.h5"))
    assert [row["delta"] for row in visible(page)] == ["+11.2", "+2.00", "+19.5", "-0.200", "+2.00"]
    assert "order warning" in visible(page)[0]["words"] and "operation cost" in page.one("#legend").text
    assert "no verdict: 2 of at least 4 blocks" in visible(page)[3]["words"] and visible(page)[3]["side"] == "costs"


def check_rows_without_delta(page, folder):
    """A missing order or operation, NaN, an unknown unit: the row stays and says so; the rows beside it are those of `analyze`."""
    statuses, reasons = set(), ""
    for name in ("incomplete", "units"):
        file = GOLDEN / f"{name}.h5"
        page.open(make(folder, f"{name}.html", file, status=(3,)))
        rows = json.loads(megaup("analyze", file, "--format", "json", status=(3,)))["rows"]
        seen = visible(page)
        assert len(seen) == len(rows) and {row["delta_ms"] is None for row in rows} == {True, False}
        for got, want in zip(seen, rows):
            statuses.add(want["status"])
            if want["delta_ms"] is None:
                assert got["delta"] == "none" and got["side"] == "none" and want["reason"] in got["words"], (got, want["reason"])
                reasons += want["reason"] + "\n"
            else:
                is_shown(want["delta_ms"], got["delta"])
    assert statuses >= {"measured", "incomplete", "invalid", "failed"}
    for words in ("reversed missing", "qkv_dgrad missing", "NaN at out_fwd", "unit 'usec?'"):
        assert words in reasons, words


def check_two_hosts(page, folder):
    """The same configuration from two hosts: two rows, each with its file's name, never one."""
    for host, saving in (("node-a", 0.1), ("node-b", -0.1)):
        with records.Writer(folder / f"{host}.h5", host=host) as out:
            out.cell("same", records.noisy(records.np.random.default_rng(3), saving))
    page.open(make(folder, "hosts.html", folder / "node-a.h5", folder / "node-b.h5"))
    seen = visible(page)
    assert [row["delta"][0] for row in seen] == ["+", "-"], seen
    names = [row.text for row in page.all("#rows tr.row")]
    assert "node-a.h5" in names[0] and "node-b.h5" in names[1], names
    assert "kept apart" in page.one("#notes").text
    assert "node-a" in page.one("#files").text and "node-b" in page.one("#files").text


def check_language(page, folder):
    """A browser that writes numbers the German way shows the same digits."""
    page.open(folder / "mixed.html", "h=0.25")
    plain = (visible(page), page.one("#axis").text, page.one("#h-words").text)
    page.driver.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": "de-DE"})
    page.open(folder / "mixed.html", "h=0.25")
    assert page.js("return (0.5).toLocaleString()") == "0,5", "the browser is German"
    assert (visible(page), page.one("#axis").text, page.one("#h-words").text) == plain
    page.driver.execute_cdp_cmd("Emulation.setLocaleOverride", {})


def check_locale(folder):
    page = make(folder, "locale.html", folder / "mixed.h5", status=(3,))
    plain = page.read_bytes()
    megaup("report", folder / "mixed.h5", "-o", page, status=(2,))  # never over a page that exists
    assert page.read_bytes() == plain
    make(folder, "locale.html", folder / "mixed.h5", status=(3,), options=("--force",), environment={"LC_ALL": "de_DE.UTF-8"})
    assert page.read_bytes() == plain


def check_many(page, folder):
    many = folder / "many.h5"
    records.write_many(many, 1000)
    path = make(folder, "many.html", many)
    assert path.stat().st_size < 5_000_000, path.stat().st_size
    page.open(path)
    paint = page.js("const [entry] = performance.getEntriesByName('first-contentful-paint'); return entry ? entry.startTime : null")
    spent = page.js("""const select = document.getElementById('model'), took = [];
      for (const value of ['model-3', '', 'model-7', '']) {
        const before = performance.now();
        select.value = value;
        select.dispatchEvent(new Event('change'));
        document.body.getBoundingClientRect();  // lays out
        took.push(Math.round(performance.now() - before));
      }
      return took""")
    assert len(visible(page)) == 1000
    print(f"1,000 rows: {path.stat().st_size / 1e6:.1f} MB; first paint {paint and round(paint)} ms; filter changes {spent} ms")

    records.write_many(folder / "too-many.h5", 2500)
    first = make(folder, "too-many.html", folder / "too-many.h5")
    parts = sorted(folder.glob("too-many*.html"))
    assert len(parts) > 1 and all(part.stat().st_size <= 5_000_000 for part in parts)
    page.open(first)
    rows = len(visible(page))
    assert "of 2500: one page holds no more" in page.one("#parts").text
    for link in range(len(parts) - 1):
        page.all("#parts a")[link].click()
        rows += len(visible(page))
        page.driver.back()
    assert rows == 2500


def main():
    with tempfile.TemporaryDirectory(prefix="megaup-report-") as name:
        folder = pathlib.Path(name)
        records.write_mixed(folder / "mixed.h5")
        with Browser(downloads=folder) as page:
            check_numbers(page, folder)
            check_filters_and_order(page)
            check_opening(page)
            check_overhead(page, folder)
            check_csv(page, folder)
            check_address(page)
            check_print(page)
            check_hostile(page, folder)
            check_other_files(page, folder)
            check_rows_without_delta(page, folder)
            check_two_hosts(page, folder)
            check_language(page, folder)
            check_many(page, folder)
            check_locale(folder)
            page.collect()
            assert any(address.endswith("mixed.html") for address in page.requests), "the log of requests works"
            outside = [address for address in page.requests if address.split(":")[0] in ("http", "https", "ws", "wss", "ftp")]
            assert not outside, outside
            assert not page.complaints, page.complaints
    print("the page does what it says")


if __name__ == "__main__":
    main()
