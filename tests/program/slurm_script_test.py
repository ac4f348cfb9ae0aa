#!/usr/bin/env python3
"""`megaup slurm`: its command line, and its script run with an srun and a program that only tell how they were called."""
import os
import pathlib
import shutil
import subprocess
import unittest

from program import MEGAUP, ProgramTest, small_spec

SRUN = """#!/bin/bash
printf '%s\\n' "$@" >"$CALLS/srun"
while [[ $1 == --* ]]; do shift; done
exec "$@"
"""
# Keeps what it was given, and ends as its caller wants.
PROGRAM = """#!/bin/bash
printf '%s\\n' "$@" >"$CALLS/program"
[[ $1 != run ]] || cp "$2" "$CALLS/spec"
exit "${STATUS:-0}"
"""
HOSTILE = "fold er'\"$(touch pwned)`touch pwned`;&\\ %j ü"


class Script(ProgramTest):
    def setUp(self):
        super().setUp()
        self.calls, tools = self.folder / "calls", self.folder / "tools"
        self.program = str(tools / "mega up'$x")
        for folder in (self.calls, tools):
            folder.mkdir()
        for path, text in ((tools / "srun", SRUN), (pathlib.Path(self.program), PROGRAM)):
            path.write_text(text)
            path.chmod(0o755)
        self.environment |= {"CALLS": str(self.calls), "PATH": f"{tools}:{os.environ['PATH']}"}

    def make(self, *arguments, spec=None, program=None):
        command = ["slurm", spec or self.spec(small_spec(cp="2")), "-o", "job.sh", "--program", program or self.program]
        self.check(self.call(*command, *arguments), 0, "sbatch it")
        return self.folder / "job.sh"

    def execute(self, **environment):
        return subprocess.run(["bash", "job.sh"], cwd=self.folder, env=self.environment | {"SLURM_JOB_ID": "7"} | environment, capture_output=True,
                              text=True, timeout=60)

    def arguments(self):
        return (self.calls / "program").read_text().splitlines()

    def test_every_script_is_one_that_bash_takes(self):
        for spec in ("quickstart", "reference-56", "two-kv-heads", "mha", "long-context"):
            path = self.make("--force", "--setup", "export X=1", "--sbatch=--constraint=a&b", "--cpus-per-rank", "2", spec=spec)
            self.assertEqual(subprocess.run(["bash", "-n", path], capture_output=True, text=True, timeout=60).stderr, "")

    def test_the_first_job_runs_and_a_later_one_resumes(self):
        self.make("--result", "out.h5")
        out = str(self.folder / "out.h5")
        self.check(self.execute(), 0)
        self.assertEqual(self.arguments(), ["run", f"{out}.job-7.yaml", "-o", out])
        self.assertIn("--kill-on-bad-exit=1", (self.calls / "srun").read_text())
        self.assertFalse((self.folder / "out.h5.job-7.yaml").exists())
        (self.folder / "out.h5.cells").mkdir()
        shutil.copy(self.folder / "spec.yaml", self.folder / "out.h5.cells" / "spec.yaml")
        self.check(self.execute(STATUS="5"), 5, "submit this script again")
        self.assertEqual(self.arguments(), ["resume", out])

    def test_cells_of_another_spec_are_not_resumed(self):
        self.make("--result", "out.h5")
        (self.folder / "out.h5.cells").mkdir()
        (self.folder / "out.h5.cells" / "spec.yaml").write_text("other")
        self.check(self.execute(), 2, "cells of another spec")
        self.assertFalse((self.calls / "program").exists())

    def test_the_status_of_the_program_is_that_of_the_job(self):
        self.make()
        for status in (0, 2, 3, 4, 5, 6, 137):
            self.check(self.execute(STATUS=str(status)), status)

    def test_names_of_every_kind_arrive_as_they_are(self):
        folder = self.folder / HOSTILE
        folder.mkdir()
        self.make("--result", str(folder / "r $x'.h5"), "--setup", "printf '%s\\n' \"set-up$UNSET\"")
        self.check(self.execute(), 0, "set-up")
        self.assertEqual(self.arguments(), ["run", str(folder / "r $x'.h5.job-7.yaml"), "-o", str(folder / "r $x'.h5")])
        self.assertEqual(os.listdir(folder), [])
        self.assertFalse((self.folder / "pwned").exists())

    def test_the_spec_arrives_byte_by_byte(self):
        plain = small_spec(cp="2")
        for text in (plain, plain.rstrip("\n"), plain + "\n\n", plain + "# $HOME `id` \\ END_OF_SPEC ü\n#SBATCH --nodes=9", plain.replace("\n", "\r\n")):
            path = self.folder / "spec.yaml"
            path.write_bytes(text.encode())
            self.make("--force", spec=str(path))
            self.check(self.execute(), 0)
            self.assertEqual((self.calls / "spec").read_bytes(), text.encode())

    def test_a_spec_that_was_edited_in_the_script_is_refused(self):
        path = self.make()
        path.write_text(path.read_text().replace("observations: 5", "observations: 6"))
        self.check(self.execute(), 2, "was changed", "megaup slurm")
        self.assertFalse((self.calls / "program").exists())

    def test_set_up_may_fail_and_comes_after_the_question_whether_this_is_a_job(self):
        self.make("--setup", "false", "--setup", "touch was-here")
        self.check(self.execute(SLURM_JOB_ID=""), 2, "start it with sbatch")
        self.assertFalse((self.folder / "was-here").exists())
        self.check(self.execute(), 0)
        self.assertTrue((self.folder / "was-here").exists())

    def test_nobody_is_sent_to_this_node_when_nothing_was_measured_on_it(self):
        self.make("--result", "out.h5")
        (self.folder / "out.h5.cells").mkdir()
        shutil.copy(self.folder / "spec.yaml", self.folder / "out.h5.cells" / "spec.yaml")
        for status, told in ((5, True), (137, True), (2, False), (4, False)):
            result = self.check(self.execute(STATUS=str(status)), status)
            self.assertEqual("--nodelist" in result.stderr, told, result.stderr)

    def test_what_the_job_lacks_is_named(self):
        self.make("--result", "out.h5")
        self.check(self.execute(SLURM_JOB_ID=""), 2, "sbatch")
        self.make("--force", program="no-such-program")
        self.check(self.execute(), 4, "no program no-such-program")
        self.check(self.call("slurm", "spec.yaml", "-o", "job.sh", "--force", "--result", "nowhere/out.h5"), 0, "no folder")
        self.check(self.execute(), 4, "cannot write")


class CommandLine(ProgramTest):
    def test_it_prints_the_script_and_submits_nothing(self):
        result = self.check(self.call("slurm", self.spec(small_spec(cp="2"))), 0)
        self.assertTrue(result.stdout.startswith("#!/bin/bash\n"))
        self.assertIn(f"result='{self.folder / 'small.h5'}'", result.stdout)
        self.assertIn(f"program='{os.path.realpath(MEGAUP)}'", result.stdout)
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])

    def test_scripts_and_results_are_not_written_over(self):
        spec = self.spec(small_spec(cp="2"))
        (self.folder / "job.sh").write_text("mine")
        self.check(self.call("slurm", spec, "-o", "job.sh"), 2, "job.sh", "--force")
        self.assertEqual((self.folder / "job.sh").read_text(), "mine")
        self.check(self.call("slurm", spec, "-o", "job.sh", "--force"), 0)
        (self.folder / "small.h5").write_text("mine")
        self.check(self.call("slurm", spec), 2, "small.h5", "--result")

    def test_refusals_name_what_to_do(self):
        spec = self.spec(small_spec(cp="2, 4"))
        for arguments, words in (((), "side by side"), (("--ranks", "2"), "are refused"), (("--nodes", "2"), "several nodes (2 a node)")):
            self.check(self.call("slurm", spec, *arguments), 0, words)
        for arguments, words in ((("--nodes", "3"), "4 ranks on 3 nodes"), (("--time", "1"), "nothing would be measured"), (("--result", "a\nb"), "one line"),
                                 (("--partition", "a b"), "--partition 'a b'"), (("--gpus-per-node", "2"), "device: host"), (("--sbatch", "rm"), "option of sbatch"),
                                 (("--sbatch", "--comment=a b"), "quote the value"), (("--sbatch", "--array=1-4"), "--array"), (("--mpi", ""), "--mpi is empty"),
                                 (("--program=-x",), "no option"), (("--gflops", "nan"), "--gflops"), (("--result", "new/"), "names a folder"),
                                 (("-o", "job.sh", "--result", "job.sh"), "the result of the job"), (("-o", spec, "--force"), "the spec itself")):
            self.check(self.call("slurm", spec, *arguments), 2, words)
        self.check(self.call("slurm", self.spec(small_spec(cp="3"))), 2, "no cell of this spec can run")
        self.check(self.call("slurm", "no-such-spec"), 2, "no-such-spec")


if __name__ == "__main__":
    unittest.main()
