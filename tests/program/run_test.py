#!/usr/bin/env python3
"""`megaup run`: what it writes, and what it refuses before any timing."""
import fcntl
import os
import subprocess
import time
import unittest

import h5py
import numpy

from program import MEGAUP, ProgramTest, cells, small_spec, text


class Run(ProgramTest):
    def test_a_small_spec_gives_a_whole_file_and_a_table(self):
        result = self.check(self.call("run", self.spec(small_spec()), "-o", "out.h5"), 0, "Delta", "wrote out.h5")
        self.assertIn("fused", result.stdout)
        found = cells(self.folder / "out.h5")
        self.assertEqual(len(found), 4)
        for attributes, latency, started in found.values():
            self.assertEqual(text(attributes["status"]), "measured")
            self.assertEqual(latency.shape[:4], (4, 5, 2, 5))  # operations, arms with bounds, orders, observations
            self.assertEqual(latency.shape[4], attributes["cp"])
            self.assertTrue((latency > 0).all())
            self.assertTrue((started > 1e9).all())
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(text(file.attrs["source"]), "measured")
            self.assertEqual(text(file.attrs["fabric"]), "host-memory")
            self.assertEqual(text(file["environment"].attrs["communicator"]), "threads")
        self.assertFalse((self.folder / "out.h5.cells").exists())
        self.check(self.call("check", "out.h5"), 0)
        self.check(self.call("status", "out.h5"), 0)
        self.check(self.call("resume", "out.h5"), 0, "nothing to resume")

    def test_blocks_run_in_both_orders(self):
        self.check(self.call("run", self.spec(small_spec(cp="1", tokens="8")), "-o", "out.h5"), 0)
        with h5py.File(self.folder / "out.h5") as file:
            (group,) = file["cells"].values()
            order, started = group["order"][...], group["started"][...]
        self.assertEqual(order.tolist(), [0, 1])
        given = started[:, :, 0].ravel()
        self.assertTrue((numpy.diff(given) > 0).all())
        self.assertTrue((numpy.diff(started[:, :, 1].ravel()) < 0).all())
        self.assertLess(given[-1], started[:, :, 1].min())

    def test_inputs_are_random_and_their_statistics_stored(self):
        self.check(self.call("run", self.spec(small_spec(cp="2", tokens="24")), "-o", "out.h5"), 0)
        for attributes, _, _ in cells(self.folder / "out.h5").values():
            for operation in ("qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"):
                self.assertLess(attributes[f"{operation}_input_zero_fraction"], 0.01)
                self.assertAlmostEqual(attributes[f"{operation}_input_std"], 1, delta=0.2)

    def test_every_launch_can_be_checked(self):
        spec = small_spec(cp="2", tokens="8") + "validate: {mode: every, seed: 7}\n"
        self.check(self.call("run", self.spec(spec), "-o", "out.h5"), 0, "Delta")

    def test_back_to_back_and_cold_are_stored(self):
        spec = small_spec(cp="2", tokens="8", warmup=1, observations=1).replace("measure: {", "measure: {cadence: back_to_back, cache: cold, ")
        self.check(self.call("run", self.spec(spec), "-o", "out.h5"), 0)
        for attributes, _, _ in cells(self.folder / "out.h5").values():
            self.assertEqual((text(attributes["cadence"]), text(attributes["cache"])), ("back_to_back", "cold"))

    def test_more_ranks_than_cores_are_marked(self):
        self.check(self.call("run", self.spec(small_spec(cp="1, 4", tokens="8")), "-o", "out.h5"), 0)
        for attributes, _, _ in cells(self.folder / "out.h5").values():
            self.assertEqual(attributes["oversubscribed"], int(attributes["cp"] > os.cpu_count()))

    def test_refused_cells_are_listed_and_the_others_measured(self):
        result = self.call("run", self.spec(small_spec(cp="2, 3", tokens="8")), "-o", "out.h5")
        self.check(result, 3, "8", "cp 3")
        self.assertEqual(sorted(text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()), ["measured", "refused"])

    def test_nothing_to_run_is_an_error_without_a_file(self):
        self.check(self.call("run", self.spec(small_spec(cp="3", tokens="8")), "-o", "out.h5"), 2, "cp 3")
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])


class Output(ProgramTest):
    def test_an_existing_file_is_kept(self):
        (self.folder / "out.h5").write_bytes(b"mine")
        self.check(self.call("run", self.spec(small_spec()), "-o", "out.h5"), 2, "out.h5", "--force")
        self.assertEqual((self.folder / "out.h5").read_bytes(), b"mine")
        self.assertFalse((self.folder / "out.h5.cells").exists())

    def test_force_replaces_it(self):
        (self.folder / "out.h5").write_bytes(b"old")
        self.check(self.call("run", self.spec(small_spec(cp="1", tokens="8")), "-o", "out.h5", "--force"), 0)
        self.assertEqual(len(cells(self.folder / "out.h5")), 1)

    def test_force_never_replaces_what_is_read(self):
        self.check(self.call("run", self.spec(small_spec(cp="2", tokens="8")), "-o", "out.h5"), 0)
        before = (self.folder / "out.h5").read_bytes()
        for command in ("report", "export"):
            self.check(self.call(command, "out.h5", "-o", "./out.h5", "--force"), 2, "out.h5 is read and would be replaced")
            self.assertEqual((self.folder / "out.h5").read_bytes(), before)

    def test_a_missing_folder_is_refused(self):
        self.check(self.call("run", self.spec(small_spec()), "-o", "nowhere/out.h5"), 4, "nowhere")

    def test_a_locked_file_is_refused_at_once(self):
        path = self.folder / "out.h5"
        path.write_bytes(b"mine")
        with open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            begin = time.monotonic()
            self.check(self.call("run", self.spec(small_spec()), "-o", "out.h5", "--force"), 4, "out.h5", "HDF5_USE_FILE_LOCKING")
            self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(path.read_bytes(), b"mine")

    def test_two_runs_with_one_name(self):
        spec = self.spec(small_spec(observations=2000))
        first = self.start("run", spec, "-o", "out.h5")
        for _ in range(200):
            if (self.folder / "out.h5.cells" / "current").exists():
                break
            time.sleep(0.05)
        second = self.call("run", spec, "-o", "out.h5", "--force")
        self.check(second, 4, "another run", f"pid {first.pid}")

    def test_a_full_disk_is_refused_before_any_timing(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a small file system")
        small = self.folder / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)], check=False)
        result = self.call("run", self.spec(small_spec(observations=1000)), "-o", "small/out.h5")
        self.check(result, 4, "small")
        self.assertEqual([name for name in os.listdir(small) if name.endswith(".h5")], [])


class Launcher(ProgramTest):
    def test_slurm_says_four_and_we_are_one(self):
        result = self.call("run", self.spec(small_spec()), "-o", "out.h5", SLURM_NTASKS="4", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4")
        self.check(result, 4, "4", "--mpi=pmix")
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])


class Words(unittest.TestCase):
    def status(self, *arguments):
        return subprocess.run([MEGAUP, *arguments], capture_output=True, text=True, timeout=60)

    def test_unknown_command(self):
        result = self.status("analyse")
        self.assertEqual(result.returncode, 2)
        self.assertIn("analyze", result.stderr)

    def test_help_and_version(self):
        for word in ("--help", "--version"):
            result = self.status(word)
            self.assertEqual(result.returncode, 0)
            self.assertIn("megaup", result.stdout)


if __name__ == "__main__":
    unittest.main()
