#!/usr/bin/env python3
"""A run that is killed or stopped loses at most the cell in hand, and `resume` finishes it."""
import os
import random
import signal
import time
import unittest

from program import ProgramTest, cells, small_spec, text

TIMES = ("prepare_s", "gate_s", "self_test_s", "blocks_s", "harness_overhead_s", "peak_rank_bytes")


def without_times(found):
    """What must be the same in an undisturbed run: everything but times, what the clock chose, and the memory of that choice."""
    def keep(name):
        return name not in TIMES and "gemm" not in name and name != "planned_rank_bytes"
    return {cell: ({k: str(v) for k, v in attributes.items() if keep(k)}, latency.shape) for cell, (attributes, latency, _) in found.items()}


class Kill(ProgramTest):
    def wait_for_cells(self, count, process):
        folder = self.folder / "out.h5.cells"
        for _ in range(9000):
            done = [name for name in os.listdir(folder) if name.endswith(".h5")] if folder.exists() else []
            if len(done) >= count or process.poll() is not None:
                return len(done)
            time.sleep(0.01)
        self.fail("no cell was finished in 90 s")

    def test_sigkill_at_ten_random_moments(self):
        seed = int(time.time())
        random.seed(seed)
        spec = self.spec(small_spec(cp="1, 2", tokens="8, 16, 24, 32"))
        begin = time.monotonic()
        self.check(self.call("run", spec, "-o", "whole.h5"), 0)
        whole = time.monotonic() - begin
        for moment in range(10):
            with self.subTest(seed=seed, moment=moment):
                out = f"out{moment}.h5"
                process = self.start("run", spec, "-o", out)
                time.sleep(random.uniform(0, whole))
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                if not (self.folder / (out + ".cells") / "spec.yaml").exists():
                    if not (self.folder / out).exists():  # killed before the run had begun, or after it had ended
                        self.check(self.call("run", spec, "-o", out, "--force"), 0)
                kept = self.kept(out)
                self.check(self.call("resume", out), 0)
                found = cells(self.folder / out)
                self.assertEqual(without_times(found), without_times(cells(self.folder / "whole.h5")))
                for cell, started in kept.items():
                    self.assertEqual(found[cell][2].tolist(), started, "a finished cell was measured again")
                self.assertFalse((self.folder / (out + ".cells")).exists())

    def kept(self, out):
        folder = self.folder / (out + ".cells")
        if not folder.exists():
            return {}
        return {cell: started.tolist() for name in os.listdir(folder) if name.endswith(".h5")
                for cell, (_, _, started) in cells(folder / name).items()}

    def test_sigterm_ends_soon_with_status_5_and_a_readable_file(self):
        spec = self.spec(small_spec(cp="1", tokens="8, 16, 24, 32, 40, 48, 56, 64", observations=1000))
        process = self.start("run", spec, "-o", "out.h5")
        self.wait_for_cells(1, process)
        begin = time.monotonic()
        process.terminate()
        out, err = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(process.returncode, 5, out + err)
        self.assertIn("megaup resume out.h5", err)
        statuses = [text(attributes["status"]) for attributes, _, _ in cells(self.folder / "out.h5").values()]
        self.assertGreaterEqual(statuses.count("measured"), 1)
        self.assertGreaterEqual(statuses.count("incomplete"), 1)
        self.check(self.call("status", "out.h5"), 5, "measured")
        self.check(self.call("analyze", "out.h5"), 3, "stopped")
        self.check(self.call("resume", "out.h5"), 0)
        self.assertEqual({text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()}, {"measured"})

    def test_resume_without_a_run(self):
        self.check(self.call("resume", "out.h5"), 2, "out.h5")

    def test_run_refuses_to_forget_an_unfinished_run(self):
        spec = self.spec(small_spec(cp="1", tokens="8, 16, 24, 32, 40, 48, 56, 64", observations=1000))
        process = self.start("run", spec, "-o", "out.h5")
        self.wait_for_cells(1, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.check(self.call("run", spec, "-o", "out.h5"), 2, "megaup resume out.h5")


if __name__ == "__main__":
    unittest.main()
