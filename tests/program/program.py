"""Runs the program under test as a user would. Imported by the *_test.py files beside it."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

MEGAUP = os.environ["MEGAUP"]
MPIRUN = ["mpirun", "-n"]

SMALL = """spec_version: 1
name: small
models:
  tiny: {hidden: 48, query_heads: 8, kv_heads: 4, head_dim: 16}
workload: {batch: 2, format: bshd, sequence_order: dual_chunk}
matrix:
  model: [tiny]
  cp: [%(cp)s]
  tokens_per_rank: [%(tokens)s]
measure: {warmup: %(warmup)d, observations: %(observations)d, cell_timeout: 60 s}
"""


def small_spec(cp="1, 2", tokens="8, 24", warmup=2, observations=5):
    return SMALL % {"cp": cp, "tokens": tokens, "warmup": warmup, "observations": observations}


class ProgramTest(unittest.TestCase):
    """A test in a folder of its own, with no trace of a launcher in its environment."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "PMI", "OMPI_COMM"))}

    def spec(self, text, name="spec.yaml"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def command(self, *arguments, ranks=0):
        launcher = MPIRUN + [str(ranks)] if ranks else []
        return launcher + [MEGAUP, *map(str, arguments)]

    def call(self, *arguments, ranks=0, timeout=120, **environment):
        return subprocess.run(self.command(*arguments, ranks=ranks), cwd=self.folder, env=self.environment | environment,
                              capture_output=True, text=True, timeout=timeout)

    def start(self, *arguments, ranks=0):
        """In a process group of its own, so that a test can kill all of it."""
        process = subprocess.Popen(self.command(*arguments, ranks=ranks), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def check(self, result, status, *texts):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)
        return result


def cells(path):
    """{id: (attributes, latency, started)} of a result file, read without the project's own code."""
    import h5py

    with h5py.File(path, "r") as file:
        return {name: (dict(group.attrs), group["latency"][...], group["started"][...]) for name, group in file["cells"].items()}


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)
