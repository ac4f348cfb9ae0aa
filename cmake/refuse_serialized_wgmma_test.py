"""A stand-in for the compiler writes an object and prints notes; only C7510 may be refused."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("refuse_serialized_wgmma.py")
COMPILER = "import pathlib, sys; pathlib.Path(sys.argv[4]).touch(); print(sys.argv[1], file=sys.stderr); sys.exit(int(sys.argv[2]))"


def compile_with(note, status, folder):
    output = pathlib.Path(folder) / "object"
    command = [sys.executable, str(SCRIPT), sys.executable, "-c", COMPILER, note, str(status), "-o", str(output)]
    return subprocess.run(command, capture_output=True, text=True, check=False), output


class Refuse(unittest.TestCase):
    def test_serialised_instructions_fail_and_leave_no_object(self):
        with tempfile.TemporaryDirectory() as folder:
            result, output = compile_with("ptxas info : (C7510) Potential Performance Loss: wgmma serialized", 0, folder)
            self.assertEqual(result.returncode, 1)
            self.assertIn("C7510", result.stderr)
            self.assertFalse(output.exists())

    def test_other_notes_pass_silently(self):
        with tempfile.TemporaryDirectory() as folder:
            result, output = compile_with("ptxas info : Used 168 registers", 0, folder)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(output.exists())

    def test_errors_keep_their_text_and_status(self):
        with tempfile.TemporaryDirectory() as folder:
            result, _ = compile_with("x.cu(1): error: no", 3, folder)
            self.assertEqual(result.returncode, 3)
            self.assertIn("error: no", result.stderr)


if __name__ == "__main__":
    unittest.main()
