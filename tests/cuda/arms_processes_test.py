#!/usr/bin/env python3
"""megaup_cuda_arms_check with ranks as processes that have a device each. Skipped where there are no two devices."""
import os
import re
import subprocess
import sys

ended = subprocess.run([os.environ["MEGAUP_MPIEXEC"], "-n", "2", os.environ["MEGAUP_ARMS_CHECK"], "500"], text=True,
                       stderr=subprocess.PIPE, timeout=690, check=False)
sys.stderr.write(ended.stderr)
sys.stderr.flush()
missing = re.search(r"rank \d: (no CUDA d.*|.* 1 CUDA device: .*)", ended.stderr)
if ended.returncode in (3, 4) and missing:
    print(f"SKIPPED: {missing.group(1)}")
    sys.exit(77)
sys.exit(ended.returncode)
