#!/usr/bin/env python3
"""Result files open in xarray at the first try: `xarray_test.py ENGINE`, with ENGINE h5netcdf or netcdf4.

Each engine is a test of its own, so that one that is not installed is counted as skipped (exit 77) and says why. h5py, which shares no code
with netCDF, tells what must be seen.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import h5py
import numpy as np

SAMPLE = os.environ["MEGAUP_RECORD_SAMPLE"]
SOURCE = pathlib.Path(os.environ["MEGAUP_SOURCE"])
CELL = "/cells/llama-3.1-8b.cp2.m2048"
AXES = ("operation", "arm", "block", "observation", "rank")
SKIPPED = 77
ENGINE = sys.argv[1]


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def need():
    try:
        import xarray  # noqa: F401
    except ImportError:
        skip("xarray is not installed for " + sys.executable + " (Debian: python3-xarray)")
    if ENGINE == "h5netcdf":
        try:
            import h5netcdf  # noqa: F401
        except ImportError:
            skip("h5netcdf is not installed (Debian: python3-h5netcdf)")
        return
    try:
        import netCDF4
    except ImportError:
        skip("netCDF4 is not installed (PyPI: netCDF4)")
    library = tuple(int(n) for n in re.findall(r"\d+", netCDF4.__netcdf4libversion__)[:3])
    if library < (4, 9, 1):
        skip(f"netCDF {netCDF4.__netcdf4libversion__} crashes on every fixed-length text (PyPI has newer ones: netCDF4)")


def as_text(values):
    return [value.decode("utf-8") if isinstance(value, bytes) else value for value in np.asarray(values).ravel().tolist()]


def check_attributes(seen, item):
    """Texts are str, numbers are numbers, and none is missing."""
    for name, value in item.attrs.items():
        if name in ("DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST", "CLASS", "NAME"):
            continue  # of the scales
        got = seen[name]
        if isinstance(value, bytes):
            assert isinstance(got, str) and got == value.decode("utf-8"), (name, got)
        elif np.ndim(value) == 0:
            assert got == value and not isinstance(got, str), (name, got)


def check_file(xarray, path):
    with h5py.File(path, "r") as file:
        for group in ("/", "/spec", "/environment"):
            with xarray.open_dataset(path, group=group, engine=ENGINE) as seen:
                check_attributes(seen.attrs, file[group])
        with xarray.open_dataset(path, group="/spec", engine=ENGINE) as seen:
            assert as_text(seen.yaml.values) == [file["spec/yaml"].asstr()[()]]
        for name in file["cells"]:
            check_cell(xarray, path, f"/cells/{name}", file["cells"][name])


def check_cell(xarray, path, group, item):
    with xarray.open_dataset(path, group=group, engine=ENGINE) as seen:
        check_attributes(seen.attrs, item)
        assert seen.latency.dims == AXES and seen.latency.dtype == np.float64
        assert seen.latency.attrs["units"] == "s" and seen.order.dims == ("block",)
        np.testing.assert_array_equal(seen.latency.values, item["latency"][()])
        np.testing.assert_array_equal(seen.order.values, item["order"][()])
        for axis in ("operation", "arm"):
            assert as_text(seen[axis].values) == list(item[axis].asstr()[()])
        named = seen.assign_coords(operation=seen.operation.astype(str), arm=seen.arm.astype(str))  # as docs/file-format.md says
        picked = named.latency.sel(operation="out_fwd", arm="fused").values
        at = [list(item[axis].asstr()[()]).index(name) for axis, name in (("operation", "out_fwd"), ("arm", "fused"))]
        np.testing.assert_array_equal(picked, item["latency"][()][at[0], at[1]])


def check_snippet(folder):
    page = (SOURCE / "docs/file-format.md").read_text(encoding="utf-8")
    ((code, expected),) = re.findall(r"```python\n(import xarray\n.*?)```\n+prints\n+```text\n(.*?)```", page, flags=re.S)
    assert 'engine="h5netcdf"' in code
    done = subprocess.run([sys.executable, "-c", code.replace("h5netcdf", ENGINE)], cwd=folder, capture_output=True, timeout=60, check=True)
    assert done.stdout.decode("utf-8") == expected, done.stdout


def measured(folder):
    """A file of a real run, if this build can measure."""
    if os.environ.get("MEGAUP_ENABLE_RUN") != "ON":
        return []
    (folder / "spec.yaml").write_text(
        "spec_version: 1\nname: small\nmodels: {tiny: {hidden: 48, query_heads: 8, kv_heads: 4, head_dim: 16}}\n"
        "workload: {batch: 2}\nmatrix: {model: [tiny], cp: [1, 2], tokens_per_rank: [8]}\n"
        "operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\narms: {control: true}\n"
        "measure: {warmup: 1, observations: 3, stop: {half_width: 1 s, max_pairs: 3}}\n")
    path = folder / "measured.h5"
    subprocess.run([os.environ["MEGAUP"], "run", folder / "spec.yaml", "-o", path], check=True, capture_output=True, timeout=100)
    return [path]


def main():
    need()
    import xarray

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([SAMPLE, "write", folder / "result.h5"], check=True, timeout=60)
        files = [folder / "result.h5", *measured(folder)]
        for path in files:
            before = hashlib.sha256(path.read_bytes()).hexdigest()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check_file(xarray, path)
            assert hashlib.sha256(path.read_bytes()).hexdigest() == before, "reading changed the file"
        check_snippet(folder)
    print(f"{len(files)} files open in xarray {xarray.__version__} with {ENGINE}")


if __name__ == "__main__":
    main()
