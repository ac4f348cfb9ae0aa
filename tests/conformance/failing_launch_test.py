"""Every failing launch ends soon, with the exit status of its first cause and that cause, once, on stderr."""

import os
import subprocess
import time
import unittest

PROGRAM = os.environ["MEGAUP_FAILING_LAUNCH"]
MPIEXEC = os.environ.get("MEGAUP_MPIEXEC")  # absent in builds without MPI
RANKS = 4
LIMIT_S = 30

# scenario -> exit status, the text and rank of the first cause
SCENARIOS = {
    "throws_before_exchange_3": (6, ["rank 1: exchange 3: element 17 is wrong"]),
    "throws_with_an_exchange_in_flight": (4, ["rank 1: the disk of rank 1 is full"]),
    "throws_while_others_compute": (4, ["rank 1: a foreign exception"]),
    "one_throws_at_the_end": (3, ["rank 2: the last cell failed"]),
    "abort_from_rank_2": (5, ["rank 2: rank 2 gives up"]),
    "rank_1_never_comes": (3, ["waited 2 s for"]),
    "rank_1_never_exchanges": (3, ["waited 2 s for"]),
    "flag_never_comes": (3, ["rank 0: waited 2 s for flag 5 of rank 0 to become 7 (it is 0): tile (3, 4) of rank 1"]),
    "all_throw": (2, ["cp: 3 does not divide 4 ranks"]),
    "fine": (0, []),
}
# Endings that all ranks reach by themselves: MPI is finalised and has nothing to say.
QUIET = {"one_throws_at_the_end", "flag_never_comes", "all_throw", "fine"}


def run(command, environment=None):
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S + 30, check=False)
    return done, time.monotonic() - began


class FailingLaunch(unittest.TestCase):
    def check(self, scenario, command):
        status, texts = SCENARIOS[scenario]
        done, seconds = run(command + [scenario])
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertLess(seconds, LIMIT_S)
        for text in texts:
            self.assertEqual(done.stderr.count(text), 1, done.stderr)
        self.assertNotIn("stopped because", done.stderr)  # the ranks that were ended are no cause
        return done

    def test_threads(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                done = self.check(scenario, [PROGRAM, "threads", str(RANKS)])
                self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_mpi(self):
        if MPIEXEC is None:
            self.skipTest("built without MPI")
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                done = self.check(scenario, [MPIEXEC, "-n", str(RANKS), PROGRAM, "mpi", "0"])
                if scenario in QUIET:
                    self.assertNotIn("MPI_ABORT", done.stderr)

    def test_mpi_with_another_number_of_ranks(self):
        if MPIEXEC is None:
            self.skipTest("built without MPI")
        done, _ = run([MPIEXEC, "-n", "2", PROGRAM, "mpi", "4", "fine"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("4 ranks are wanted but the launcher made 2"), 1, done.stderr)

    def test_mpi_starts_only_once_in_a_process(self):
        if MPIEXEC is None:
            self.skipTest("built without MPI")
        done, _ = run([PROGRAM, "mpi", "1", "fine", "2"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("can start only once", done.stderr)

    def test_threads_under_a_launcher_of_several(self):
        if MPIEXEC is None:
            self.skipTest("built without MPI")
        done, _ = run([MPIEXEC, "-n", "2", PROGRAM, "threads", "2", "fine"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("use communicator: mpi", done.stderr)

    def test_slurm_step_that_mpi_does_not_see(self):
        environment = {**os.environ, "SLURM_NTASKS": "4", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}
        for backend in ["auto", "mpi"] if MPIEXEC else ["auto"]:
            with self.subTest(backend):
                done, _ = run([PROGRAM, backend, "0", "fine"], environment)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("SLURM_NTASKS=4 with an MPI world of 1", done.stderr)
                self.assertIn("--mpi=pmix", done.stderr)


if __name__ == "__main__":
    unittest.main()
