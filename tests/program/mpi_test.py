#!/usr/bin/env python3
"""The program under mpirun: the same file, groups, refusals, and an end for all when one rank ends."""
import os
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from program import MEGAUP, MPIRUN, ProgramTest, cells, small_spec, text

if shutil.which("mpirun") is None:
    print("skipped: there is no mpirun")
    raise SystemExit(77)
if "mpi: not in this build" in subprocess.run([MEGAUP, "doctor"], capture_output=True, text=True, timeout=60).stdout:
    print("skipped: built without MPI")
    raise SystemExit(77)


class Mpi(ProgramTest):
    def test_two_processes_write_the_same_kind_of_file(self):
        spec = self.spec(small_spec(cp="2", tokens="8"))
        self.check(self.call("run", spec, "-o", "mpi.h5", ranks=2), 0, "Delta")
        self.check(self.call("run", spec, "-o", "threads.h5"), 0)
        mpi, threads = cells(self.folder / "mpi.h5"), cells(self.folder / "threads.h5")
        self.assertEqual(mpi.keys(), threads.keys())
        for cell in mpi:
            self.assertEqual(mpi[cell][1].shape, threads[cell][1].shape)
            self.assertEqual(set(mpi[cell][0]), set(threads[cell][0]))
        with h5py.File(self.folder / "mpi.h5") as file:
            self.assertEqual(text(file["environment"].attrs["communicator"]), "mpi")

    def test_four_processes_form_two_groups_of_two(self):
        self.check(self.call("run", self.spec(small_spec(cp="2", tokens="8")), "-o", "out.h5", ranks=4), 0)
        for attributes, latency, _ in cells(self.folder / "out.h5").values():
            self.assertEqual((attributes["cp"], latency.shape[4]), (2, 4))
            self.assertTrue((latency > 0).all())

    def test_four_processes_cannot_form_groups_of_three(self):
        spec = small_spec(cp="3", tokens="8").replace("query_heads: 8, kv_heads: 4", "query_heads: 6, kv_heads: 3")
        result = self.call("run", self.spec(spec), "-o", "out.h5", ranks=4, timeout=60)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("cp 3", result.stderr)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_ranks_with_different_specs_stop_with_both_hashes(self):
        self.spec(small_spec(cp="4", tokens="8"), "spec0.yaml")
        self.spec(small_spec(cp="4", tokens="8").replace("head_dim: 16", "head_dim: 8"), "spec3.yaml")
        line = [*MPIRUN, "3", MEGAUP, "run", "spec0.yaml", "-o", "out.h5", ":", "-n", "1", MEGAUP, "run", "spec3.yaml", "-o", "out.h5"]
        begin = time.monotonic()
        result = subprocess.run(line, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("rank 0 has", result.stderr)
        self.assertIn("rank 3 has", result.stderr)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_an_existing_output_is_refused_by_all(self):
        (self.folder / "out.h5").write_bytes(b"mine")
        result = self.call("run", self.spec(small_spec(cp="2", tokens="8")), "-o", "out.h5", ranks=2, timeout=60)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("--force"), 1, result.stderr)
        self.assertEqual((self.folder / "out.h5").read_bytes(), b"mine")

    def test_a_killed_rank_ends_the_others_and_resume_goes_on(self):
        spec = self.spec(small_spec(cp="2", tokens="8, 16, 24, 32, 40, 48, 56, 64", observations=1000))
        process = self.start("run", spec, "-o", "out.h5", ranks=2)
        self.wait_for_a_cell(process)
        self.kill_one_rank(process)
        begin = time.monotonic()
        process.communicate(timeout=40)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotEqual(process.returncode, 0)
        self.check(self.call("resume", "out.h5", ranks=2), 0)
        self.assertEqual({text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()}, {"measured"})

    def test_sigterm_to_mpirun_leaves_a_readable_file(self):
        spec = self.spec(small_spec(cp="2", tokens="8, 16, 24, 32, 40, 48, 56, 64", observations=1000))
        process = self.start("run", spec, "-o", "out.h5", ranks=2)
        self.wait_for_a_cell(process)
        begin = time.monotonic()
        process.terminate()
        process.communicate(timeout=40)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertNotEqual(process.returncode, 0)
        statuses = [text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()]
        self.assertGreaterEqual(statuses.count("measured"), 1)
        self.assertGreaterEqual(statuses.count("incomplete"), 1)

    def wait_for_a_cell(self, process):
        folder = self.folder / "out.h5.cells"
        for _ in range(9000):
            if folder.exists() and any(name.endswith(".h5") for name in os.listdir(folder)):
                return
            if process.poll() is not None:
                self.fail("the run ended: " + process.communicate()[1])
            time.sleep(0.01)
        self.fail("no cell was finished in 90 s")

    @staticmethod
    def kill_one_rank(process):
        children = subprocess.run(["pgrep", "-P", str(process.pid), "megaup"], capture_output=True, text=True).stdout.split()
        os.kill(int(children[-1]), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
