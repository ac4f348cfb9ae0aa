"""`megaup simulate`: predictions through every command that reads files, calibration and validation on the files of docs/results, and
what is refused."""
import json
import os
import pathlib
import re
import unittest

import h5py
import numpy

from program import ProgramTest, text

SOURCE = pathlib.Path(os.environ["MEGAUP_SOURCE"])
RESULTS = SOURCE / "docs" / "results"
MEASURED = [RESULTS / f"h200-x2-{name}.h5" for name in ("interleaved", "sizes", "long", "large")]

SPEC = """spec_version: 1
name: predicted
workload: {batch: 8}
matrix: {model: [llama-3.1-8b, llama-3.1-70b], cp: [%(cp)s], tokens_per_rank: [8192]}
arms: {baseline: [native_packed, native_packed_ce], candidate: fused}
measure: {schedule: interleaved}
backend: {device: cuda%(backend)s}
"""

# A machine on which times can be added in the head.
MACHINE = """machine_version: 1
name: round
description: round numbers
fabric: nvlink
gap: {value: 0 us, source: made up, date: 2026-11-30}
reorder:
  rate: {value: 1 TB/s, source: made up, date: 2026-11-30}
  launch: {value: 0 us, source: made up, date: 2026-11-30}
gemm:
  - source: made up
    date: 2026-11-30
    points:
      - [8192, 6144, 4096, any, 500 us]
      - [8192, 4096, 4096, any, 300 us]
      - [8192, 4096, 6144, any, 500 us]
exchange:
  - transport: nccl
    ranks: 2
    source: made up
    date: 2026-11-30
    points:
      - [64 MiB, 200 us]
      - [96 MiB, 300 us]
"""


def spec(cp="2", backend=""):
    return SPEC % {"cp": cp, "backend": backend}


class Predict(ProgramTest):
    def predicted(self, *options, status=0, spec_text=spec(), output="out.h5"):
        return self.check(self.call("simulate", self.spec(spec_text), "--machine", "h200-nvl", "-o", output, *options), status)

    def test_every_reader_takes_the_file_and_says_that_it_is_simulated(self):
        shown = self.predicted().stdout
        self.assertIn("Simulated, not measured", shown)
        self.assertIn("Not modelled", shown)
        self.check(self.call("check", "out.h5"), 0, "sound")
        analysis = json.loads(self.check(self.call("analyze", "out.h5", "--format", "json"), 0).stdout)
        self.assertEqual(len(analysis["rows"]), 4)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual((text(file.attrs["source"]), text(file.attrs["fabric"])), ("simulated", "nvlink"))
            self.assertIn("machine_version: 1", text(file["environment"].attrs["machine_yaml"]))
            for row in analysis["rows"]:
                cell = file["cells"][row["cell"]].attrs
                self.assertEqual((row["source"], row["verdict"]), ("simulated", "not measured"))
                self.assertAlmostEqual(row["delta_ms"], 1e3 * cell[f"predicted_{row['baseline']}_delta_s"], places=9)
                self.assertEqual(row["order_delta_ms"]["initial"], row["order_delta_ms"]["reversed"])
                low, high = (cell[f"predicted_{row['baseline']}_interval_{end}_s"] for end in ("low", "high"))
                self.assertTrue(low < row["delta_ms"] / 1e3 < high)
                self.assertEqual(text(cell[f"predicted_{row['baseline']}_verdict"]), "pays" if low > 0 else "undecided")
                self.assertEqual(text(cell["predicted_range"]), "inside")
                for operation in row["operations"]:
                    self.assertGreaterEqual(operation["candidate_ms"] / 1e3, cell[f"predicted_floor_s_{operation['operation']}"])
        table = self.check(self.call("analyze", "out.h5"), 0).stdout
        self.assertEqual(sum("simulated nvlink" in line for line in table.splitlines() if "native_packed" in line), 4 + 16)
        lines = self.check(self.call("export", "out.h5"), 0).stdout.splitlines()
        self.assertTrue(all(",simulated," in line for line in lines[1:]))
        self.assertEqual(len(lines), 1 + 2 * 4 * 6 * 2)  # cells, operations, arms, blocks
        self.check(self.call("report", "out.h5", "-o", "page.html"), 0)
        self.assertTrue("all simulated" in (self.folder / "page.html").read_text())  # not assertIn, which would print the page

    def test_a_prediction_stands_beside_its_measurement(self):
        self.predicted()
        compared = json.loads(self.check(self.call("compare", str(MEASURED[0]), "out.h5", "--format", "json"), 3).stdout)  # 3: cells of one side only
        changes = [row for row in compared["rows"] if row["baseline"] == "native_packed"]
        self.assertEqual([row["model"] for row in changes], ["llama-3.1-8b"])
        self.assertIn("simulated", changes[0]["change"])
        self.assertLess(abs(changes[0]["change_ms"]), 0.1)  # the machine was fitted to this cell, among others
        names = {difference["name"] for difference in compared["environment"]}
        self.assertIn("source", names)
        self.assertNotIn("machine_yaml", names)

    def test_numbers_of_a_machine_that_can_be_added_in_the_head(self):
        machine = self.spec(MACHINE, "round.yaml")
        asked = spec().replace("llama-3.1-8b, llama-3.1-70b", "llama-3.1-8b").replace(", native_packed_ce", "")
        # no fused arm without its factors: the cell compares nothing
        result = self.check(self.call("simulate", self.spec(asked), "--machine", machine, "-o", "none.h5"), 3)
        self.assertIn("fused", result.stderr)
        asked = asked.replace("fused", "native_pipelined")
        self.check(self.call("simulate", self.spec(asked), "--machine", machine, "-o", "out.h5"), 0)
        with h5py.File(self.folder / "out.h5") as file:
            (cell,) = file["cells"].values()
            arms, operations = list(cell["arm"].asstr()), list(cell["operation"].asstr())
            times = dict(zip(operations, cell["latency"][:, arms.index("native_packed"), 0, 0, 0]))
            verdict = text(cell.attrs["predicted_native_packed_verdict"])
        # GEMM, exchange of e*M*N = 96 MiB or e*M*Hq*D = 64 MiB, two passes that read and write it at 1 TB/s
        wide, narrow = 2 * 2 * 96 * 2**20 / 1e12, 2 * 2 * 64 * 2**20 / 1e12
        for operation, expected in {"qkv_fwd": 800e-6 + wide, "qkv_dgrad": 800e-6 + wide, "out_fwd": 500e-6 + narrow,
                                    "out_dgrad": 500e-6 + narrow}.items():
            self.assertAlmostEqual(times[operation], expected, delta=1e-9)
        self.assertEqual(verdict, "undecided")

    def test_outside_the_range_nothing_is_claimed(self):
        result = self.predicted(status=3, spec_text=spec(cp="2, 4"))
        self.assertIn("CP 4 was not measured", result.stdout)
        self.assertIn("no exchange curve of transport copy_engine among 4 ranks", result.stdout)
        with h5py.File(self.folder / "out.h5") as file:
            outside = [cell for cell in file["cells"].values() if cell.attrs["cp"] == 4]
            self.assertEqual(len(outside), 2)
            for cell in outside:
                self.assertEqual(text(cell.attrs["predicted_native_packed_verdict"]), "undecided")
                self.assertEqual(text(cell.attrs["predicted_range"]), "outside")
                self.assertNotIn("predicted_native_packed_interval_low_s", cell.attrs)
                self.assertIn("native_packed_ce: ", text(cell.attrs["predicted_without"]))
                self.assertNotIn("native_packed_ce", list(cell["arm"].asstr()))
        self.check(self.call("check", "out.h5"), 0)

    def test_a_machine_without_a_measured_fused_arm_decides_nothing(self):
        for machine in ("h100-sxm", "b200-sxm", "gb200"):
            result = self.call("simulate", self.spec(spec(cp="2, 4").replace(", native_packed_ce", "")), "--machine", machine)
            self.check(result, 0)
            rows = [line for line in result.stdout.splitlines() if re.match(r"llama-\S+ +[24] +8192", line)]
            self.assertEqual(len(rows), 4)
            for row in rows:
                self.assertIn("undecided", row)

    def test_cells_that_the_plan_refuses_are_refused(self):
        result = self.predicted(status=3, spec_text=spec(cp="2, 3").replace(", native_packed_ce", ""))
        self.assertIn("Refused cells", result.stdout)
        self.check(self.call("check", "out.h5"), 0)
        self.check(self.call("analyze", "out.h5"), 3, "refused")

    def test_an_existing_output_stays(self):
        self.predicted()
        before = (self.folder / "out.h5").read_bytes()
        self.check(self.call("simulate", self.spec(spec()), "--machine", "h200-nvl", "-o", "out.h5"), 2, "--force")
        self.assertEqual((self.folder / "out.h5").read_bytes(), before)
        self.predicted("--force")

    def test_shapes_that_the_kernels_refuse_pay_nothing(self):
        for model, tokens, why in (("hidden: 8192, query_heads: 64, kv_heads: 8, head_dim: 96", 8192, "D = 96"),
                                   ("hidden: 4096, query_heads: 32, kv_heads: 8, head_dim: 128", 2056, "runs of 2056")):
            odd = (f"spec_version: 1\nname: odd\nmodels:\n  odd: {{{model}}}\nworkload: {{batch: 8}}\n"
                   f"matrix: {{model: [odd], cp: [2], tokens_per_rank: [{tokens}]}}\narms: {{baseline: [native_packed]}}\n"
                   "measure: {schedule: interleaved}\nbackend: {device: cuda}\n")
            result = self.check(self.call("simulate", self.spec(odd), "--machine", "h200-nvl"), 3)
            self.assertNotIn("pays", result.stdout)
            self.assertIn("the kernel of qkv_fwd refuses this shape", result.stdout + result.stderr)
            self.assertIn(why, result.stdout + result.stderr)

    def test_force_replaces_no_input(self):
        machine = self.folder / "own.yaml"
        machine.write_text(MACHINE)
        before = machine.read_bytes()
        self.check(self.call("simulate", self.spec(spec()), "--machine", "own.yaml", "-o", "own.yaml", "--force"), 2, "own.yaml is read")
        self.assertEqual(machine.read_bytes(), before)
        run = self.folder / "run.h5"
        run.write_bytes(MEASURED[0].read_bytes())
        self.check(self.call("simulate", "--calibrate", "run.h5", "-o", "./run.h5", "--force"), 2, "run.h5 is read")
        self.assertEqual(run.read_bytes(), MEASURED[0].read_bytes())

    def test_other_transport(self):
        self.predicted()
        self.predicted(spec_text=spec(backend=", exchange: copy_engine"), output="ce.h5")
        with h5py.File(self.folder / "out.h5") as nccl, h5py.File(self.folder / "ce.h5") as engine:
            for one, other in zip(nccl["cells"].values(), engine["cells"].values()):
                arms = list(one["arm"].asstr())
                self.assertTrue((other["latency"][:, 0] == one["latency"][:, arms.index("native_packed_ce")]).all())
                self.assertTrue((other["latency"][:, arms.index("fused")] == one["latency"][:, arms.index("fused")]).all())


class Calibrate(ProgramTest):
    def test_the_shipped_machine_is_what_the_command_writes(self):
        result = self.call("simulate", "--calibrate", *MEASURED, "--machine", "h200-sxm", "-o", "h200-nvl.yaml")
        self.check(result, 0, "h200-x2-long.h5", "incomplete")  # the cell that was left out is named
        written = (self.folder / "h200-nvl.yaml").read_text()
        self.maxDiff = 2000
        self.assertEqual(written, (SOURCE / "experiments" / "machines" / "h200-nvl.yaml").read_text())
        self.check(self.call("simulate", "--calibrate", *MEASURED, "-o", "h200-nvl.yaml"), 2, "--force")
        self.assertEqual((self.folder / "h200-nvl.yaml").read_text(), written)

    def test_a_run_of_this_machine_can_be_calibrated_from(self):
        tiny = self.spec("spec_version: 1\nname: tiny\nmodels:\n  a: {hidden: 64, query_heads: 4, kv_heads: 4, head_dim: 16}\n"
                         "  b: {hidden: 128, query_heads: 4, kv_heads: 2, head_dim: 32}\nmatrix: {model: [a, b], cp: [2], tokens_per_rank: [128, 256]}\n"
                         "workload: {batch: 2}\nmeasure: {warmup: 1, observations: 3}\n")
        self.check(self.call("run", tiny, "-o", "run.h5"), 0)
        self.check(self.call("simulate", "--calibrate", "run.h5", "-o", "this-host.yaml"), 0)
        result = self.call("simulate", tiny, "--machine", "this-host.yaml", "-o", "out.h5")
        self.assertIn(result.returncode, (0, 3), result.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(text(file.attrs["fabric"]), "host-memory")

    def test_what_cannot_teach_anything_is_refused_by_name(self):
        self.check(self.call("simulate", self.spec(spec()), "--machine", "h200-nvl", "-o", "out.h5"), 0)
        for arguments, words in {
            ("out.h5",): ("out.h5", "simulated", "prediction is no measurement"),
            (MEASURED[0], RESULTS / "h200-solo-blocked-llama.h5"): ("h200-solo-blocked-llama.h5", "emulated"),
            (MEASURED[0], RESULTS / "h200-x2-blocked.h5"): ("h200-x2-blocked.h5", "blocked"),
            (MEASURED[0], RESULTS / "h200-x2-spaced.h5"): ("h200-x2-spaced.h5", "spaced"),
            (MEASURED[0], MEASURED[0]): ("given twice",),
            ("missing.h5",): ("missing.h5",),
        }.items():
            for mode in (["--calibrate", *arguments, "-o", "m.yaml"], ["--validate", *arguments]):
                result = self.call("simulate", *mode)
                self.assertIn(result.returncode, (2, 4))
                for word in words:
                    self.assertIn(word, result.stderr)
                self.assertFalse((self.folder / "m.yaml").exists())

    def test_a_run_without_bounds_is_refused(self):
        bare = ("spec_version: 1\nname: bare\nmodels:\n  a: {hidden: 64, query_heads: 4, kv_heads: 4, head_dim: 16}\n"
                "matrix: {model: [a], cp: [2], tokens_per_rank: [128]}\nworkload: {batch: 2}\narms: {bounds: false}\n"
                "measure: {warmup: 1, observations: 3}\n")
        self.check(self.call("run", self.spec(bare), "-o", "run.h5"), 0)
        self.check(self.call("simulate", "--calibrate", "run.h5", "-o", "m.yaml"), 2, "run.h5", "gemm_only")


class Validate(ProgramTest):
    def test_error_of_delta_on_the_measured_files(self):
        shown = self.check(self.call("simulate", "--validate", *MEASURED, "--machine", "h200-sxm"), 0).stdout
        (line,) = [line.split() for line in shown.splitlines() if re.match(r"each in turn +all ", line)]
        count, median, p90, worst, bias = (float(word) for word in line[4:])
        self.assertEqual(count, 52)
        self.assertLess(median, 2)
        self.assertLess(p90, 4)
        self.assertLess(worst, 6)
        self.assertLess(abs(bias), 1)
        self.assertRegex(shown, r"saves \(Delta > 0\) +52 +0")
        self.assertIn("every cell has CP 2", shown)

    def test_one_model_alone_is_refused(self):
        self.check(self.call("simulate", "--validate", RESULTS / "h200-x2-large.h5"), 0)  # two models
        with h5py.File(RESULTS / "h200-x2-large.h5") as source, h5py.File(self.folder / "one.h5", "w") as file:
            for name, value in source.attrs.items():
                file.attrs[name] = value
            for name in ("spec", "environment"):
                source.copy(name, file)
            for name in source["cells"]:
                if name.startswith("gpt-3"):
                    source.copy(f"cells/{name}", file.require_group("cells"), name=name)
        self.check(self.call("simulate", "--validate", "one.h5"), 2, "model")


class Words(ProgramTest):
    def refused(self, *arguments, words, status=2):
        result = self.check(self.call("simulate", *arguments), status)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_arguments(self):
        good = self.spec(spec())
        self.refused(words=["SPEC", "--calibrate", "--validate"])
        self.refused(good, words=["--machine", "h200-nvl", "h100-sxm"])
        self.refused(good, "--machine", "h200-nvl", "--validate", MEASURED[0], words=["one of three"])
        self.refused("--calibrate", MEASURED[0], words=["-o"])
        self.refused("--validate", MEASURED[0], "-o", "x", words=["-o"])
        self.refused(good, "--machine", "h200-nlv", words=["no shipped machine", "did you mean 'h200-nvl'"])
        self.refused(good, "--machine", "h200-nvl", "--nonsense", words=["--nonsense"])
        self.refused("no-such-spec", "--machine", "h200-nvl", words=["no-such-spec"])
        self.refused(good, "--machine", "h200-nvl", "-o", "no/such/folder.h5", words=["no/such"], status=4)

    def test_specs_that_no_machine_describes(self):
        for backend, word in ((", solo: true", "solo"), (", share_device: true", "share_device"), (", push: pp128x192", "push")):
            self.refused(self.spec(spec(backend=backend)), "--machine", "h200-nvl", words=[word, "cannot be predicted"])
        for key in ("cache: cold", "cadence: back_to_back"):
            text_ = spec().replace("schedule: interleaved", key)
            self.refused(self.spec(text_), "--machine", "h200-nvl", words=[key, "cannot be predicted"])

    def test_machine_files_say_where_they_are_wrong(self):
        good = self.spec(spec())
        for wrong, right, place in (("1 TB/s", "1", "round.yaml:7:17: error:"), ("1 TB/s", "-1 TB/s", "round.yaml:7"),
                                    ("[96 MiB,", "[32 MiB,", "error: exchange[0].points[1]"), ("gap:", "gaps:", "did you mean 'gap'"),
                                    ("fabric: nvlink", "fabric: emulated", "round.yaml:4:9: error:")):
            machine = self.spec(MACHINE.replace(wrong, right), "round.yaml")
            self.refused(good, "--machine", machine, words=[place, "^"])

    def test_help_lists_machines(self):
        self.assertIn("h200-nvl", self.check(self.call("simulate", "--help"), 0).stdout)


if __name__ == "__main__":
    unittest.main()
