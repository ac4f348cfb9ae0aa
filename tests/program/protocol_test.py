"""Control, sequence, burn-in, schedules and stopping: from the spec through a real run to what `analyze`, `report` and `check` say."""
import json
import unittest

import h5py
import numpy

from program import ProgramTest, small_spec, text

ALL = "operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\narms: {baseline: [native_packed, native_pipelined], candidate: fused, control: true}\n"


def with_measure(keys, cp="2"):
    return small_spec(cp=cp, tokens="24", warmup=1, observations=4).replace("measure: {", f"measure: {{{keys}, ")


class Protocol(ProgramTest):
    def analyze(self, *options, status=0):
        return json.loads(self.check(self.call("analyze", "out.h5", "--format", "json", *options), status).stdout)

    def test_control_and_sequence_reach_the_reader(self):
        self.check(self.call("run", self.spec(with_measure("pairs: 4, burn_in: true") + ALL), "-o", "out.h5"), 0, "Delta")
        self.check(self.call("check", "out.h5"), 0)
        rows = self.analyze()["rows"]
        self.assertEqual({row["baseline"] for row in rows}, {"native_packed", "native_pipelined"})  # the control is no baseline
        with h5py.File(self.folder / "out.h5") as file:
            (cell,) = file["cells"].values()
            arms, operations = list(cell["arm"].asstr()), list(cell["operation"].asstr())
            medians = numpy.median(cell["latency"][()].max(axis=4), axis=3) * 1e3
            order = cell["order"][()]
            self.assertEqual(cell.attrs["burn_in_pairs"], 1)
            self.assertEqual(sorted(order.tolist()), [0] * 4 + [1] * 4)
        times = (medians[:, :, order == 0].mean(axis=2) + medians[:, :, order == 1].mean(axis=2)) / 2
        for row in rows:
            self.assertEqual(row["blocks"], 8)
            self.assertGreater(row["resolution_ms"], 0)
            self.assertIn(row["verdict"], ("benefit", "harm", "no difference", "undecided"))
            for side in ("baseline", "candidate"):
                arm = arms.index(row[side])
                additivity = row["arms"][side]["additivity"]
                self.assertAlmostEqual(additivity["sequence_ms"], times[operations.index("sequence"), arm], places=9)
                self.assertAlmostEqual(additivity["sum_ms"], times[:4, arm].sum(), places=9)
        self.check(self.call("report", "out.h5", "-o", "page.html"), 0)
        self.assertTrue(": the four one by one " in (self.folder / "page.html").read_text())  # not assertIn, which would print the page

    def test_stopping_early_is_stored_and_widens_the_interval(self):
        spec = with_measure("stop: {half_width: 10 s, max_pairs: 8}")
        self.check(self.call("run", self.spec(spec), "-o", "out.h5"), 0)
        (row,) = self.analyze()["rows"]
        self.assertEqual(row["blocks"], 4)  # the first look: any spread is below 10 s
        self.assertAlmostEqual(row["confidence"], 1 - 0.05 / 3)
        with h5py.File(self.folder / "out.h5") as file:
            (cell,) = file["cells"].values()
            self.assertEqual(cell.attrs["stop_looks"], 3)
            self.assertEqual(cell["latency"].shape[2], 4)
            self.assertTrue(numpy.isfinite(cell["latency"][()]).all())
        self.check(self.call("check", "out.h5"), 0)
        self.check(self.call("run", self.spec(spec.replace("10 s", "1 ns")), "-o", "out.h5", "--force"), 0)
        (row,) = self.analyze()["rows"]
        self.assertEqual(row["blocks"], 16)

    def test_processes_stop_together(self):
        spec = with_measure("stop: {half_width: 10 s, max_pairs: 4}, schedule: interleaved") + ALL
        self.check(self.call("run", self.spec(spec), "-o", "out.h5", ranks=2), 0)
        for row in self.analyze()["rows"]:
            self.assertEqual(row["blocks"], 4)
            self.assertGreater(row["arms"]["candidate"]["additivity"]["sequence_ms"], 0)
        with h5py.File(self.folder / "out.h5") as file:
            (cell,) = file["cells"].values()
            self.assertEqual(text(cell.attrs["schedule"]), "interleaved")
            self.assertEqual(text(file["environment"].attrs["communicator"]), "mpi")

    def test_the_order_is_drawn_from_the_seed_and_stored(self):
        orders = []
        for seed in range(6):
            spec = with_measure("pairs: 2", cp="1") + f"validate: {{seed: {seed}}}\n"
            self.check(self.call("run", self.spec(spec), "-o", "out.h5", "--force"), 0)
            with h5py.File(self.folder / "out.h5") as file:
                (cell,) = file["cells"].values()
                orders.append(cell["order"][()].tolist())
                self.assertEqual(json.loads(text(file["spec/resolved"][()]))["validate"]["seed"], seed)
            planned = json.loads(self.call("plan", self.folder / "spec.yaml", "--format", "json").stdout)
            self.assertEqual([("initial", "reversed")[kind] for kind in orders[-1]], planned["blocks"])
        self.assertEqual({tuple(order) for order in orders}, {(0, 1, 1, 0), (1, 0, 0, 1)})

    def test_mistakes_are_refused_with_their_place(self):
        spec = with_measure("pairs: 2, stop: {half_width: 0.02}") + "arms: {control: native_packed}\n"
        result = self.check(self.call("run", self.spec(spec), "-o", "out.h5"), 2, "3 errors", "'pairs' cannot stand beside 'stop'",
                            "'half_width' must be a number with a unit", "'control' must be true or false")
        self.assertEqual(result.stdout, "")
        self.assertFalse((self.folder / "out.h5").exists())


if __name__ == "__main__":
    unittest.main()
