#!/usr/bin/env python3
"""What megaup_cuda_arms_check says where ranks can have no devices, alone and under mpirun: once, with the same exit
status on all ranks. CUDA_VISIBLE_DEVICES hides the devices of a machine that has some."""
import os
import subprocess
import unittest

PROGRAM = os.environ["MEGAUP_ARMS_CHECK"]
MPIRUN = [os.environ["MEGAUP_MPIEXEC"], "-n"]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ | {"CUDA_VISIBLE_DEVICES": ""})


class Refusals(unittest.TestCase):
    def check(self, command, status, text):
        done = run(command)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual((done.stdout + done.stderr).count(text), 1, done.stdout + done.stderr)
        return done

    def test_one_process_without_a_device_is_skipped(self):
        self.check([PROGRAM, "10", "2"], 77, "SKIPPED: no CUDA d")

    def test_a_launchers_processes_without_a_device_fail_together(self):
        done = self.check(MPIRUN + ["2", PROGRAM, "10"], 4, "no CUDA d")
        self.assertEqual(done.stdout, "")
        self.assertNotIn("MPI_ABORT", done.stderr)

    def test_numbers_of_ranks(self):
        self.check([PROGRAM, "10", "2", "3"], 2, "3 ranks: there are cases for 2, 4 and 8")
        self.check(MPIRUN + ["3", PROGRAM, "10"], 2, "3 ranks: there are cases for 2, 4 and 8")
        self.check(MPIRUN + ["2", PROGRAM, "10", "4"], 2, "4 ranks are wanted but the launcher made 2")

    def test_words_that_are_no_numbers(self):
        for word in ["sanitiser", "10s", "-1", "0"]:
            self.check([PROGRAM, word], 2, f"'{word}' is no number of seconds or ranks")


if __name__ == "__main__":
    unittest.main()
