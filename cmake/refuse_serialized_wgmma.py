"""Runs a CUDA compiler and fails where ptxas serialised the tensor cores' instructions (note C7510), which it reports only as information.

Usage: refuse_serialized_wgmma.py COMPILER ARGUMENT... Other notes of ptxas are dropped, warnings and errors are passed on.
"""

import os
import subprocess
import sys

NOTE = "C7510"


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    lines = result.stdout.splitlines()
    refused = [line for line in lines if NOTE in line]
    noise = ("ptxas info", "    0 bytes stack frame")
    print("\n".join(line for line in lines if line in refused or not line.startswith(noise)), end="", file=sys.stderr)
    if refused and result.returncode == 0:
        print("\nerror: tensor core instructions are serialised: look for a call that was not inlined", file=sys.stderr)
        if "-o" in command[:-1]:
            output = command[command.index("-o") + 1]
            if os.path.exists(output):
                os.remove(output)  # no later build may take it for a good one
        sys.exit(1)
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
