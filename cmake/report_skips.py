"""Prints each test that was skipped, with its reason, and fails when their number is not the expected one.

Usage: report_skips.py TESTS.xml EXPECTED. TESTS.xml is what `ctest --output-junit` wrote. A test that is skipped without
anybody noticing is worth nothing, so the expected number has to be raised by hand, where CI is described.
"""

import re
import sys
import xml.etree.ElementTree


def reason_of(case):
    """The line of the output that says why: Catch2 prints it after `explicitly with message:`."""
    output = case.findtext("system-out") or ""
    after = re.search(r"explicitly with message:\s*(.+)", output)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return after.group(1).strip() if after else (lines[-1] if lines else "no reason given")


def main():
    path, expected = sys.argv[1], int(sys.argv[2])
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    skipped = [case for case in cases if case.find("skipped") is not None]
    for case in skipped:
        print(f"skipped: {case.get('name')}: {reason_of(case)}")
    if len(skipped) != expected:
        print(f"{len(skipped)} tests were skipped, {expected} were expected")
        sys.exit(1)


if __name__ == "__main__":
    main()
