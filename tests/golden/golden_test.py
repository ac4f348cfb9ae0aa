#!/usr/bin/env python3
"""Every answer of expected.json through `megaup analyze`, and what the command promises about status, streams, formats and its input."""
import csv, hashlib, io, json, os, pathlib, subprocess, sys, tempfile, unittest

MEGAUP = os.environ["MEGAUP"]
HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
FILES = sorted(name for name in EXPECTED if name.endswith(".h5") and "+" not in name)


def analyze(*arguments, command="analyze", **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "COLUMNS"))} | environment
    return subprocess.run([MEGAUP, command, *map(str, arguments)], capture_output=True, timeout=60, env=env, cwd=HERE)


def answers(*arguments):
    result = analyze(*arguments, "--format", "json")
    return result.returncode, json.loads(result.stdout)


class Golden(unittest.TestCase):
    def check_row(self, row, expected):
        if expected["delta_ms"] is None:
            self.assertIsNone(row["delta_ms"])
            self.assertIsNone(row["budget_ms"])
            why = expected["why"]
            self.assertIn("validation: out_fwd rank 1, error 0.4 above 0.01" if why == "the stored reason" else why, row["reason"])
            return
        self.assertAlmostEqual(row["delta_ms"], expected["delta_ms"], delta=1e-8)
        self.assertEqual(row["budget_ms"], row["delta_ms"] if row["delta_ms"] > 0 else None)
        for operation in row["operations"]:
            if operation["operation"] in expected.get("per_operation_ms", {}):
                self.assertAlmostEqual(operation["delta_ms"], expected["per_operation_ms"][operation["operation"]], delta=1e-8)
        for order, value in expected.get("order_delta_ms", {}).items():
            self.assertAlmostEqual(row["order_delta_ms"][order], value, delta=1e-8)

    def test_every_answer(self):
        for name in FILES:
            status, answer = answers(name)
            rows = {row["cell"]: row for row in answer["rows"]}
            self.assertEqual(rows.keys(), EXPECTED[name].keys(), name)
            for cell, expected in EXPECTED[name].items():
                with self.subTest(file=name, cell=cell):
                    self.check_row(rows[cell], expected)
                    self.assertEqual(rows[cell]["file"], name)
            whole = all(expected["delta_ms"] is not None for expected in EXPECTED[name].values())
            self.assertEqual(status, 0 if whole else 3, name)

    def test_order_warning(self):
        _, answer = answers("worked.h5")
        warned = [note for note in answer["notes"] if "order warning" in note]
        self.assertEqual(len(warned), 1)
        self.assertIn("drift", warned[0])

    def test_twins_stay_apart(self):
        status, answer = answers("twin-a.h5", "twin-b.h5")
        self.assertEqual(status, 0)
        self.assertEqual(sorted((row["file"], round(row["delta_ms"], 9)) for row in answer["rows"]), [("twin-a.h5", 4.0), ("twin-b.h5", 4.0)])
        self.assertTrue(any("twin-a.h5" in note and "twin-b.h5" in note for note in answer["notes"]))

    def test_loss_has_its_sign_in_every_format(self):
        for form, text in (("table", "-0.200"), ("markdown", "-0.200"), ("csv", ",-0.2"), ("json", '"delta_ms":-0.2')):
            result = analyze("worked.h5", "--format", form, "--filter", "cell=harm")
            self.assertEqual(result.returncode, 0)
            self.assertIn(text, result.stdout.decode())
        self.assertIn("fused costs 0.200 ms", analyze("worked.h5").stdout.decode())

    def test_h_is_strict(self):
        result = analyze("worked.h5", "--filter", "cell=spike", "--h", "2.0 ms", "--format", "csv")
        row, = csv.DictReader(io.StringIO(result.stdout.decode()))
        self.assertAlmostEqual(float(row["saving_ms"]), 0, delta=1e-9)
        row, = csv.DictReader(io.StringIO(analyze("worked.h5", "--filter", "cell=spike", "--h", "1990us", "--format", "csv").stdout.decode()))
        self.assertEqual(row["benefit"], "yes")
        self.assertAlmostEqual(float(row["saving_ms"]), 0.01, delta=1e-9)

    def test_csv_is_pure_and_notes_go_to_stderr(self):
        result = analyze("incomplete.h5", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout.decode())))
        self.assertEqual(len(rows), 8)
        self.assertIn("not a confidence interval", result.stderr.decode())
        self.assertIn("no Delta", result.stderr.decode())

    def test_locale_changes_nothing(self):
        for form in ("table", "markdown", "csv", "json"):
            arguments = ("worked.h5", "hostile.h5", "--format", form, "--h", "0.5")
            plain = analyze(*arguments, LC_ALL="C").stdout
            for name in ("de_DE.UTF-8", "de_DE", "C.UTF-8", "tr_TR.UTF-8"):
                self.assertEqual(analyze(*arguments, LC_ALL=name, LANG=name).stdout, plain, name)

    def test_narrow_terminal(self):
        for columns in (30, 60, 80, 120):
            for line in analyze("worked.h5", COLUMNS=str(columns)).stdout.decode().splitlines():
                self.assertLessEqual(len(line), columns)

    def test_no_escape_sequences(self):
        for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "xterm-256color"}):
            self.assertNotIn(b"\x1b", analyze("hostile.h5", **environment).stdout)

    def test_a_filter_takes_one_word(self):
        for arguments in (("--filter", "cell=harm", "worked.h5"), ("--filter", "cp=4", "worked.h5", "--filter", "status=measured")):
            result = analyze(*arguments, "--format", "json")
            self.assertEqual([row["cell"] for row in json.loads(result.stdout)["rows"]], ["harm"])

    def test_operations_are_shown_for_few_rows_or_on_demand(self):
        self.assertIn("qkv_dgrad", analyze("worked.h5").stdout.decode())
        self.assertNotIn("qkv_dgrad", analyze("worked.h5", "--no-operations").stdout.decode())
        self.assertNotIn("out_dgrad ", analyze(*FILES).stdout.decode())
        self.assertIn("out_dgrad ", analyze(*FILES, "--operations").stdout.decode())

    def test_output_that_is_lost_is_no_success(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([MEGAUP, "analyze", "worked.h5"], stdout=full, stderr=subprocess.PIPE, timeout=60, cwd=HERE)
        self.assertEqual(result.returncode, 4)
        self.assertIn("stdout", result.stderr.decode())

    def test_usage_mistakes(self):
        for arguments, word in ((("worked.h5", "--filter", "modle=x"), "known are"), (("worked.h5", "--filter", "cp=99"), "no row"),
                                (("worked.h5", "--h", "fast"), "not a time"), (("worked.h5", "--format", "xml"), "xml"),
                                (("worked.h5", "--step-ms", "5", "--unchanged-ms", "5"), "different bases"), (("worked.h5", "./worked.h5"), "twice"),
                                (("absent.h5",), "absent.h5"), ((), "FILE")):
            with self.subTest(arguments=arguments):
                result = analyze(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stdout, b"")
                self.assertIn(word, result.stderr.decode())

    def test_damaged_files(self):
        whole = (HERE / "worked.h5").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("cut.h5", whole[:-1]), ("head.h5", whole[:100]), ("empty.h5", b""), ("text.h5", b"model,cp\n")):
                path = pathlib.Path(folder) / name
                path.write_bytes(content)
                with self.subTest(file=name):
                    result = analyze(path, "units.h5")
                    self.assertEqual(result.returncode, 2)
                    self.assertIn(name, result.stderr.decode())
                    result = analyze(path, "worked.h5", "--keep-going", "--format", "json")
                    self.assertEqual(result.returncode, 3)
                    self.assertEqual(len(json.loads(result.stdout)["rows"]), 5)
                    self.assertIn(name, result.stderr.decode())
            padded = pathlib.Path(folder) / "padded.h5"
            padded.write_bytes(whole + bytes(64))
            self.assertEqual(analyze(padded).returncode, 0)

    def test_check(self):
        result = analyze("incomplete.h5", command="check")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nan", result.stdout.decode())
        self.assertEqual(analyze("absent.h5", command="check").returncode, 2)
        self.assertEqual(analyze("units.h5", command="check").returncode, 2)

    def test_input_is_untouched(self):
        before = {name: hashlib.sha256((HERE / name).read_bytes()).hexdigest() for name in FILES}
        analyze(*FILES)
        analyze(*FILES, command="check")
        self.assertEqual(before, {name: hashlib.sha256((HERE / name).read_bytes()).hexdigest() for name in FILES})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
