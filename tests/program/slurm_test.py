#!/usr/bin/env python3
"""The program under Slurm: the same file, nodes that share no memory, a launcher that did not connect the ranks, and a cancelled job."""
import subprocess
import tempfile
import time
import unittest

import h5py

import slurm
from program import MEGAUP, ProgramTest, cells, small_spec, text

reason = slurm.reason_for_none()
if not reason and "mpi: not in this build" in subprocess.run([MEGAUP, "doctor"], capture_output=True, text=True, timeout=60).stdout:
    reason = "built without MPI"
if reason:
    print("skipped: " + reason)
    raise SystemExit(77)

# A rank that dies ends its step: the others would wait for it.
SRUN = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1"]
# On two nodes that are one machine MPI must not take the ranks for neighbours.
TWO_NODES = {"OMPI_MCA_btl": "self,tcp"}
NATIVE = "arms: {baseline: [native_packed], candidate: native_chunked, bounds: true}\n"


class Slurm(ProgramTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(holder.cleanup)
        cls.cluster = slurm.Cluster(holder.name)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cluster.cancel_all)
        # More ranks than cores: threads of OpenMP that wait must not keep a core.
        self.environment |= self.cluster.environment | {"OMP_WAIT_POLICY": "passive"}

    def under(self, *launcher, arguments, **environment):
        return subprocess.run([*launcher, MEGAUP, *arguments], cwd=self.folder, env=self.environment | environment, capture_output=True, text=True,
                              timeout=120)

    def across_nodes(self, spec):
        """Open MPI 4.1.4 itself can die in MPI_Init here: a first message arrives over TCP before its receiver is set up (2 of 599 starts of a
        program that only starts and ends MPI). Such a start is made again, twice at most."""
        for out in ("out.h5", "again.h5", "last.h5"):
            result = self.under(*SRUN, "-N", "2", "-n", "2", arguments=["run", spec, "-o", out], **TWO_NODES)
            if "Segmentation fault" not in result.stderr:
                break
            print(f"a rank died of a segmentation fault, as Open MPI does: started again\n{result.stderr}")
        return result, self.folder / out

    def test_srun_writes_the_same_kind_of_file(self):
        spec = self.spec(small_spec(cp="2", tokens="8, 24"))
        self.check(self.under(*SRUN, "-N", "1", "-n", "2", arguments=["run", spec, "-o", "srun.h5"]), 0, "Delta")
        self.check(self.call("run", spec, "-o", "threads.h5"), 0)
        srun, threads = cells(self.folder / "srun.h5"), cells(self.folder / "threads.h5")
        self.assertEqual(srun.keys(), threads.keys())
        for cell in srun:
            self.assertEqual(srun[cell][1].shape, threads[cell][1].shape)
            self.assertEqual(set(srun[cell][0]), set(threads[cell][0]))
        with h5py.File(self.folder / "srun.h5") as file:
            self.assertEqual(text(file["environment"].attrs["communicator"]), "mpi")
            self.assertIn("variable_SLURM_JOB_ID", file["environment"].attrs)

    def test_ranks_on_two_nodes_have_no_peer_memory(self):
        result, out = self.across_nodes(self.spec(small_spec(cp="2", tokens="8")))
        self.check(result, 3, "fused cannot do qkv_fwd", "ranks are on 2 nodes", "put all ranks of a group on one node")
        ((attributes, _, _),) = cells(out).values()
        self.assertEqual(text(attributes["status"]), "failed")

    def test_native_arms_run_across_nodes(self):
        spec = self.spec(small_spec(cp="2", tokens="8", observations=2) + NATIVE)
        result, out = self.across_nodes(spec)
        self.check(result, 0, "network")
        ((attributes, latency, _),) = cells(out).values()
        self.assertEqual(text(attributes["status"]), "measured")
        self.assertTrue((latency > 0).all())

    def test_tasks_that_do_not_see_each_other_stop_with_the_hint(self):
        spec = self.spec(small_spec(cp="2", tokens="8"))
        for launcher in (["srun", "-N", "1", "-n", "4", "--mpi=none"], ["salloc", "-N", "1", "-n", "4"]):
            result = self.under(*launcher, arguments=["run", spec, "-o", "out.h5"])
            self.check(result, 4, "SLURM_NTASKS=4 with an MPI world of 1", "srun --mpi=pmix")
            self.assertFalse((self.folder / "out.h5").exists())

    def test_a_cancelled_job_can_be_resumed(self):
        self.spec(small_spec(cp="2", tokens="8, 16, 24, 32, 40, 48", observations=2000))
        # The shell outlives the signal, so that it can tell the exit status of its rank.
        (self.folder / "job.sh").write_text(
            f"#!/bin/bash\n{' '.join(SRUN)} -n 2 bash -c 'trap : TERM; {MEGAUP} run spec.yaml -o out.h5; echo $? > status.$SLURM_PROCID'\n")
        job = subprocess.run(["sbatch", "--parsable", "-N", "1", "-n", "2", "-o", "job.out", "job.sh"], cwd=self.folder,
                             env=self.environment, capture_output=True, text=True, timeout=60).stdout.strip()
        self.wait_until(lambda: any((self.folder / "out.h5.cells").glob("*.h5")), "a first cell")
        self.assertEqual(self.cluster.call("scancel", job).returncode, 0)
        self.wait_until(lambda: not self.cluster.call("squeue", "-h", "-j", job).stdout.strip(), "the end of the job")
        self.assertEqual((self.folder / "status.0").read_text(), "5\n")
        statuses = [text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()]
        self.assertGreaterEqual(statuses.count("measured"), 1)
        self.assertGreaterEqual(statuses.count("incomplete"), 1)
        self.check(self.under(*SRUN, "-N", "1", "-n", "2", arguments=["resume", "out.h5"]), 0)
        self.assertEqual({text(a["status"]) for a, _, _ in cells(self.folder / "out.h5").values()}, {"measured"})

    def wait_until(self, holds, what):
        for _ in range(900):
            if holds():
                return
            time.sleep(0.1)
        self.fail(f"waited 90 s for {what}:\n" + ((self.folder / "job.out").read_text() if (self.folder / "job.out").exists() else ""))

    def script(self, spec, *arguments):
        self.check(self.call("slurm", spec, "-o", "job.sh", "--result", "out.h5", "--sbatch=--output=job.out", *arguments), 0, "wrote job.sh")

    def submit(self):
        return subprocess.run(["sbatch", "--parsable", "job.sh"], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60,
                              check=True).stdout.strip()

    def end_of(self, job):
        """State and exit status of a job, once it has ended."""
        fields = {}

        def ended():
            fields.update(word.split("=", 1) for word in self.cluster.call("scontrol", "show", "job", job).stdout.split() if "=" in word)
            return fields.get("JobState", "PENDING") not in ("PENDING", "RUNNING", "COMPLETING")

        self.wait_until(ended, f"the end of job {job}")
        return fields["JobState"], fields["ExitCode"]

    def log(self):
        return (self.folder / "job.out").read_text()

    def statuses(self):
        return [text(attributes["status"]) for attributes, _, _ in cells(self.folder / "out.h5").values()]

    def test_a_submitted_script_measures_and_does_not_write_over_its_result(self):
        self.script(self.spec(small_spec(cp="1, 2", tokens="8, 24")))
        self.assertEqual(self.end_of(self.submit()), ("COMPLETED", "0:0"), self.log())
        self.assertEqual(self.statuses(), ["measured"] * 4, self.log())
        for _, latency, _ in cells(self.folder / "out.h5").values():
            self.assertEqual(latency.shape[4], 2)  # two groups of cp 1 side by side
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(text(file["environment"].attrs["communicator"]), "mpi")
            self.assertEqual(file["spec/yaml"][()], (self.folder / "spec.yaml").read_bytes())
        before = (self.folder / "out.h5").read_bytes()
        self.assertEqual(self.end_of(self.submit()), ("FAILED", "2:0"), self.log())
        self.assertIn("--force", self.log())
        self.assertEqual((self.folder / "out.h5").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["job.out", "job.sh", "out.h5", "spec.yaml"])

    def test_threads_need_one_task(self):
        self.script(self.spec(small_spec(cp="2", tokens="8") + "backend: {communicator: threads}\n"))
        self.assertEqual(self.end_of(self.submit()), ("COMPLETED", "0:0"), self.log())
        self.assertEqual(self.statuses(), ["measured"], self.log())

    def test_a_stopped_script_ends_with_5_and_goes_on_when_submitted_again(self):
        self.script(self.spec(small_spec(cp="2", tokens="8, 16, 24, 32, 40, 48", observations=2000)))
        job = self.submit()
        self.wait_until(lambda: any((self.folder / "out.h5.cells").glob("*.h5")), "a first cell")
        self.cluster.call("scancel", "--signal=TERM", job)
        self.assertEqual(self.end_of(job), ("FAILED", "5:0"), self.log())
        self.assertIn("submit this script again", self.log())
        self.assertIn("incomplete", self.statuses())
        self.assertEqual(self.end_of(self.submit()), ("COMPLETED", "0:0"), self.log())
        self.assertEqual(self.statuses(), ["measured"] * 6, self.log())

    def test_ranks_get_what_set_up_exports_at_sites_that_export_nothing(self):
        wrapper = self.folder / "wrapper"
        wrapper.write_text(f"#!/bin/bash\necho seen=$FROM_SET_UP\nexec {MEGAUP} \"$@\"\n")
        wrapper.chmod(0o755)
        self.script(self.spec(small_spec(cp="2", tokens="8")), "--program", "./wrapper", "--setup", "export FROM_SET_UP=it " + " ".join(
            f"{name}={value}" for name, value in self.environment.items() if name.startswith("OMPI_")), "--sbatch=--export=NONE")
        self.end_of(self.submit())
        self.assertEqual(self.log().count("seen=it"), 2, self.log())

    def test_a_job_whose_time_is_nearly_over_is_stopped_in_time(self):
        self.script(self.spec(small_spec(cp="2", tokens="8, 16, 24, 32, 40, 48", observations=100_000).replace("60 s", "1 h")))
        job = self.submit()
        self.wait_until(lambda: (self.folder / "out.h5.cells" / "current").exists(), "a first cell")
        self.assertEqual(self.cluster.call("scontrol", "update", f"JobId={job}", "TimeLimit=1").returncode, 0)
        self.assertEqual(self.end_of(job), ("FAILED", "5:0"), self.log())  # Slurm looks every 30 s
        self.assertIn("incomplete", self.statuses())

    def test_a_rank_that_dies_ends_the_job(self):
        wrapper = self.folder / "wrapper"
        wrapper.write_text(f"#!/bin/bash\n[ $SLURM_PROCID != 1 ] || kill -SEGV $$\nexec {MEGAUP} \"$@\"\n")
        wrapper.chmod(0o755)
        self.script(self.spec(small_spec(cp="2", tokens="8")), "--program", "./wrapper")
        state, status = self.end_of(self.submit())  # rank 0 would wait for it in MPI_Init for ever
        self.assertEqual(state, "FAILED", self.log())
        self.assertNotEqual(status, "0:0", self.log())
        self.assertFalse((self.folder / "out.h5").exists())


if __name__ == "__main__":
    unittest.main()
