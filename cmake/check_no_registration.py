"""Checks that no object of a library runs code before main, which is how tables that fill themselves would work.

Usage: check_no_registration.py NM LIBRARY... Objects of *_kokkos.cpp are exempt: Kokkos' own headers have such code.
"""

import re
import subprocess
import sys


def objects_that_run_before_main(nm, library):
    listing = subprocess.run([nm, library], capture_output=True, text=True, check=True).stdout
    current = ""
    for line in listing.splitlines():
        if re.match(r"\S+\.o:$", line):
            current = line[:-1]
        elif "_GLOBAL__sub_I_" in line and not current.endswith("_kokkos.cpp.o"):
            yield f"{library}({current}): {line.split()[-1]}"


def main():
    nm, *libraries = sys.argv[1:]
    found = [entry for library in libraries for entry in objects_that_run_before_main(nm, library)]
    print("\n".join(found) if found else "nothing runs before main")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
