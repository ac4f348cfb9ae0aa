#!/usr/bin/env python3
"""An environment in which ranks on one device would wait for each other for ever is refused before a cell is measured,
with or without a GPU."""
import os
import pathlib
import subprocess
import tempfile
import unittest


class Environment(unittest.TestCase):
    def test_one_stream_at_a_time(self):
        for spec in ("gpu-quickstart", "gpu-solo"):
            with self.subTest(spec=spec), tempfile.TemporaryDirectory() as folder:
                output = pathlib.Path(folder) / "out.h5"
                ended = subprocess.run([os.environ["MEGAUP"], "run", spec, "-o", str(output)],
                                       capture_output=True, text=True,
                                       env=os.environ | {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, timeout=120)
                self.assertEqual(ended.returncode, 4, ended.stderr)
                self.assertIn("CUDA_DEVICE_MAX_CONNECTIONS=1", ended.stderr)
                self.assertIn("unset it", ended.stderr)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
