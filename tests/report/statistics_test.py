"""Intervals, verdicts, compare and export on the golden files, against numpy and h5py alone (expected.json holds the Deltas).

MEGAUP is the program, MEGAUP_SOURCE the source tree. Quantiles of Student's t are literals.
"""

import csv
import io
import itertools
import json
import os
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np

GOLDEN = pathlib.Path(os.environ["MEGAUP_SOURCE"]) / "tests" / "golden"
T_975_6, T_950_6 = 2.4469118511449692, 1.9431802805153022  # 6 degrees of freedom, to the last digit of a double


def run(*arguments, status=0):
    done = subprocess.run([os.environ["MEGAUP"], *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout


def near(a, b, tolerance=1e-9):
    assert abs(a - b) <= tolerance, (a, b)


def block_differences(cell):
    """Milliseconds [block]: the four operations of a block summed, baseline - candidate, and the order of the blocks."""
    medians = np.median(cell["latency"][()].max(axis=4), axis=3) * 1e3  # operation, arm, block
    return (medians[:, 0] - medians[:, 1]).sum(axis=0), cell["order"][()]


def check_intervals():
    expected = json.loads((GOLDEN / "expected.json").read_text())["eight-blocks.h5"]
    rows = {row["cell"]: row for row in json.loads(run("analyze", GOLDEN / "eight-blocks.h5", "--format", "json"))["rows"]}
    with h5py.File(GOLDEN / "eight-blocks.h5") as file:
        for name, row in rows.items():
            d, order = block_differences(file["cells"][name])
            means = [d[order == k].mean() for k in (0, 1)]
            delta = sum(means) / 2
            spread = np.sqrt(sum(((d[order == k] - means[k]) ** 2).sum() for k in (0, 1)) / (len(d) - 2))
            error = spread / np.sqrt(len(d))  # four blocks of each order: spread / 2 * sqrt(1/4 + 1/4)
            near(row["delta_ms"], delta)
            near(row["delta_ms"], expected[name]["delta_ms"], 1e-8)
            near(row["interval_ms"][0], delta - T_975_6 * error)
            near(row["interval_ms"][1], delta + T_975_6 * error)
            near(row["h_safe_ms"], delta - T_950_6 * error)
            near(row["order_effect"]["effect_ms"], (means[0] - means[1]) / 2)
            reached = [abs(np.dot(signs, d)) >= abs(d.sum()) - 1e-12 for signs in itertools.product((1, -1), repeat=len(d))]
            near(row["sign_flip_p"], np.mean(reached))
            low, high = row["interval_ms"]
            assert low <= expected[name]["true_delta_ms"] <= high, "the true Delta of these three lies inside"
            ranks = np.median(file["cells"][name]["latency"][()].mean(axis=4), axis=3) * 1e3
            t = np.stack([ranks[:, :, order == k].mean(axis=2) for k in (0, 1)]).mean(axis=0)
            near(row["rank_mean_delta_ms"], (t[:, 0] - t[:, 1]).sum())
    assert {name: row["verdict"] for name, row in rows.items()} == {"saving": "benefit", "nothing": "undecided", "loss": "harm"}
    assert rows["nothing"]["more_blocks"] > 0 and rows["saving"]["more_blocks"] is None
    assert rows["saving"]["resolution_ms"] is None, "no A/A comparison in this file"


def check_two_blocks():
    for row in json.loads(run("analyze", GOLDEN / "worked.h5", "--format", "json"))["rows"]:
        assert row["blocks"] == 2
        for key in ("interval_ms", "h_safe_ms", "verdict", "order_effect", "drift", "sign_flip_p"):
            assert row[key] is None, key
    assert "they need 4 blocks" in run("analyze", GOLDEN / "worked.h5")
    for row in json.loads(run("analyze", GOLDEN / "incomplete.h5", "--format", "json", status=3))["rows"]:
        assert (row["verdict"] == "not measured") == (row["delta_ms"] is None)


def check_table():
    table = run("analyze", GOLDEN / "eight-blocks.h5")
    assert "verdict" in table and "h_safe ms" in table
    assert "verdict" not in run("analyze", GOLDEN / "worked.h5").split("\n\n")[1], "no column where no row has one"


def check_export():
    lines = list(csv.DictReader(io.StringIO(run("export", GOLDEN / "eight-blocks.h5"))))
    with h5py.File(GOLDEN / "eight-blocks.h5") as file:
        assert len(lines) == sum(cell["latency"].size for cell in file["cells"].values())
        for line in lines[::997]:
            cell = file["cells"][line["cell"]]
            op = [name.decode() for name in cell["operation"][()]].index(line["operation"])
            arm = [name.decode() for name in cell["arm"][()]].index(line["arm"])
            at = (op, arm, int(line["block"]), int(line["observation"]), int(line["rank"]))
            assert float(line["latency_s"]) == cell["latency"][at]
            assert line["order"] == ("initial", "reversed")[cell["order"][at[2]]]
    run("export", GOLDEN / "units.h5", status=3)  # one cell's unit is unknown: left out by name
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "long.csv"
        run("export", GOLDEN / "worked.h5", "-o", out)
        assert out.read_text() == run("export", GOLDEN / "worked.h5")
        run("export", GOLDEN / "worked.h5", "-o", out, status=2)


def check_compare():
    text = run("compare", GOLDEN / "twin-a.h5", GOLDEN / "twin-b.h5")
    assert text.index("node-b") < text.index("Delta A"), "what differs in the environment comes first"
    assert "host changed, so a change of Delta may be the machine's" in text
    report = json.loads(run("compare", GOLDEN / "twin-a.h5", GOLDEN / "twin-b.h5", "--format", "json"))
    assert report["marked"] is True and [row["change_ms"] for row in report["rows"]] == [0]
    same = json.loads(run("compare", GOLDEN / "worked.h5", GOLDEN / "worked.h5", "--format", "json"))
    assert same["marked"] is False and same["environment"] == [] and len(same["rows"]) == 5
    assert "not in" in run("compare", GOLDEN / "twin-a.h5", GOLDEN / "worked.h5", status=3)


if __name__ == "__main__":
    check_intervals()
    check_two_blocks()
    check_table()
    check_export()
    check_compare()
    print("the statistics of the golden files are right")
