#!/usr/bin/env python3
"""A cell's peak memory is what `plan` announced: 200 MB a rank, with ranks as threads and as processes."""
import json
import shutil
import subprocess
import unittest

from program import MEGAUP, ProgramTest, cells

SPEC = """spec_version: 1
name: memory
models:
  wide: {hidden: 4096, query_heads: 32, kv_heads: 8, head_dim: 128}
workload: {batch: 1}
matrix: {model: [wide], cp: [2], tokens_per_rank: [256]}
arms: {baseline: [native_packed], candidate: fused, bounds: false}
measure: {warmup: 1, observations: 1, cell_timeout: 300 s}
"""


class Memory(ProgramTest):
    def peak_is_as_planned(self, ranks):
        spec = self.spec(SPEC)
        plan = json.loads(self.check(self.call("plan", spec, "--format", "json"), 0).stdout)["cells"][0]
        self.check(self.call("run", spec, "-o", "out.h5", ranks=ranks, timeout=300), 0)
        ((attributes, _, _),) = cells(self.folder / "out.h5").values()
        planned, peak = int(attributes["planned_rank_bytes"]), int(attributes["peak_rank_bytes"])
        self.assertGreater(planned, 190e6)
        self.assertLess(abs(peak - planned), 0.1 * planned, f"peak {peak}, planned {planned}")
        self.assertEqual(int(attributes["announced_rank_bytes"]), plan["bytes_per_rank"])
        self.assertLessEqual(plan["least_bytes_per_rank"], planned)
        self.assertLessEqual(planned, plan["bytes_per_rank"])

    def test_ranks_as_threads(self):
        self.peak_is_as_planned(0)

    @unittest.skipIf(shutil.which("mpirun") is None, "there is no mpirun")
    def test_ranks_as_processes(self):
        if "mpi: not in this build" in subprocess.run([MEGAUP, "doctor"], capture_output=True, text=True, timeout=60).stdout:
            self.skipTest("built without MPI")
        self.peak_is_as_planned(2)


if __name__ == "__main__":
    unittest.main()
