"""The files of docs/gallery: what their specs say, sound, small, readable by today's program, and with no trace of where they were made."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import h5py

SOURCE = pathlib.Path(os.environ["MEGAUP_SOURCE"])
GALLERY = SOURCE / "docs" / "gallery"
NAMES = ("threads", "mpi", "control")


def run(*arguments):
    done = subprocess.run([os.environ["MEGAUP"], *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def check_file(name):
    path = GALLERY / f"{name}.h5"
    assert path.stat().st_size < 1_000_000, path
    run("check", path)
    rows = json.loads(run("analyze", path, "--format", "json"))["rows"]
    assert rows and all(row["interval_ms"] and row["source"] == "measured" for row in rows)
    with h5py.File(path) as file:
        assert file["spec/yaml"].asstr()[()].encode() == (GALLERY / f"{name}.yaml").read_bytes(), "the spec beside it"
        texts = " ".join(str(value) for group in (file, file["environment"]) for value in group.attrs.values())
        assert not re.search(r"/(home|tmp|work|root)/", texts), texts
        assert file["environment"].attrs["communicator"] == (b"mpi" if name == "mpi" else b"threads")
    return rows


def check_words():
    """Every number that the page quotes from the table is in the table."""
    page = (SOURCE / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in NAMES:
        table = page.partition(f"megaup analyze {name}.h5")[2].partition("```text\n")[2].partition("```")[0]
        assert table.strip(), name
        shown = run("analyze", GALLERY / f"{name}.h5").split("\n\n")[1]
        assert table.strip().splitlines() == [line.rstrip() for line in shown.strip().splitlines()], (name, shown)
        for picture in re.findall(rf"gallery/({name}[a-z-]*\.png)", page):
            assert (GALLERY / picture).stat().st_size < 300_000, picture
        assert f"gallery/{name}.png" in page
        with tempfile.TemporaryDirectory() as folder:
            run("report", GALLERY / f"{name}.h5", "-o", pathlib.Path(folder) / "page.html")


def main():
    rows = {name: check_file(name) for name in NAMES}
    assert all(row["resolution_ms"] > 0 and row["arms"]["candidate"]["additivity"] for row in rows["control"])
    assert all(row["confidence"] > 0.95 for row in rows["control"])
    check_words()
    print("the gallery is in order")


if __name__ == "__main__":
    main()
