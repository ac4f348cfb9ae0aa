#!/usr/bin/env python3
"""Record files between our reader and writer and h5py, and the snippets of docs/file-format.md, run as they stand there."""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

SAMPLE = os.environ["MEGAUP_RECORD_SAMPLE"]
SOURCE = pathlib.Path(os.environ["MEGAUP_SOURCE"])
GOLDEN = pathlib.Path(os.environ["MEGAUP_GOLDEN"])
CELL = "/cells/llama-3.1-8b.cp2.m2048"
AXES = ("operation", "arm", "block", "observation", "rank")


def seen_by_our_reader(path):
    """{cell: {field: text}} as our reader prints it."""
    lines = subprocess.run([SAMPLE, "print", path], check=True, capture_output=True, timeout=60).stdout.decode("utf-8")
    facts = {}
    for line in lines.splitlines():
        cell, field, value = line.split("\t", 2)
        facts.setdefault(cell, {})[field] = value
    return facts


class WrittenByUs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "result.h5"
        subprocess.run([SAMPLE, "write", cls.path], check=True, timeout=60)
        cls.file = h5py.File(cls.path, "r")
        cls.cell = cls.file[CELL]

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        cls.folder.cleanup()

    def objects(self):
        found = {"/": self.file}
        self.file.visititems(lambda name, item: found.__setitem__("/" + name, item))
        return found

    def test_groups_and_root_attributes(self):
        self.assertEqual(set(self.file), {"cells", "environment", "spec"})
        text = {name: value.decode("utf-8") for name, value in self.file.attrs.items()}
        self.assertEqual(text["format"], "megaup-measurement")
        self.assertEqual(text["format_version"], "1.0.0")
        self.assertEqual(text["created"], "2026-11-29T12:00:00Z")
        self.assertEqual(text["plan_sha256"], "b" * 64)
        self.assertEqual((text["source"], text["fabric"]), ("measured", "host-memory"))

    def test_values_and_types(self):
        self.assertEqual(self.cell.attrs["model"].decode("utf-8"), 'Modèle "ü" <模型>')
        self.assertEqual(self.cell.attrs["peak_bytes"], 123456789012)
        self.assertEqual(self.cell.attrs["gemm_share"], 0.75)
        self.assertEqual(self.cell.attrs["cp"].dtype, np.int64)
        latency = self.cell["latency"]
        self.assertEqual((latency.shape, latency.dtype), ((4, 3, 2, 5, 2), np.float64))
        o, a, b, i, r = np.indices(latency.shape)
        expected = 1e-3 + 1e-6 * (o + 0.1 * a + 0.01 * b + 0.001 * i + 0.0001 * r)
        expected[-1, -1, -1, -1, -1] = np.nan
        np.testing.assert_allclose(latency[()], expected, rtol=1e-15)
        self.assertEqual(self.cell["started"][3, 2, 1], 1795953600.5 + 23)
        self.assertEqual(self.cell["error_bound"].shape, (4, 3))

    def test_every_number_has_units(self):
        for name, item in self.objects().items():
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
                self.assertIn("units", item.attrs, name)
                self.assertIn("long_name", item.attrs, name)
        self.assertEqual(self.cell["latency"].attrs["units"], b"s")
        self.assertEqual(self.cell["started"].attrs["units"], b"s")
        self.assertEqual(self.cell["error_max"].attrs["units"], b"1")

    def test_every_axis_has_a_name_and_a_scale(self):
        axes = {"latency": AXES, "started": AXES[:3], "order": ("block",)}
        axes.update({f"error_{kind}": AXES[:2] for kind in ("frobenius", "max", "bound")})
        for name, expected in axes.items():
            dims = self.cell[name].dims
            self.assertEqual(tuple(dim.label for dim in dims), expected, name)
            for dim, axis in zip(dims, expected):
                self.assertEqual(dim[0].name, f"{CELL}/{axis}")
                self.assertTrue(h5py.h5ds.is_scale(dim[0].id))
                self.assertEqual(len(dim[0]), self.cell[name].shape[expected.index(axis)])
        self.assertEqual(list(self.cell["observation"][()]), [0, 1, 2, 3, 4])

    def test_strings_are_str(self):
        self.assertEqual(list(self.cell["operation"].asstr()[()]), ["qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"])
        self.assertEqual(list(self.cell["arm"].asstr()[()]), ["native_packed", "fused", "gemm_only"])
        self.assertIsInstance(self.cell["arm"].asstr()[0], str)
        self.assertEqual(self.file["spec/yaml"].asstr()[()], "spec_version: 1\nname: ü\n")
        self.assertEqual(self.file["environment/modules"].asstr()[()], "m" * 70000)  # too long for an attribute

    def test_strings_are_fixed_length_utf8(self):
        """No variable-length data, no compounds, no enums, except those that the dimension scales of HDF5 are made of."""
        of_the_scales = {"DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "CLASS", "NAME"}
        types = {}
        for name, item in self.objects().items():
            if isinstance(item, h5py.Dataset):
                types[name] = item.id.get_type()
            for attribute in set(item.attrs) - of_the_scales:
                types[f"{name} {attribute}"] = item.attrs.get_id(attribute).get_type()
        self.assertGreater(len(types), 40)
        for name, kind in types.items():
            self.assertIn(kind.get_class(), (h5py.h5t.STRING, h5py.h5t.FLOAT, h5py.h5t.INTEGER), name)
            if kind.get_class() == h5py.h5t.STRING:
                self.assertFalse(kind.is_variable_str(), name)
                self.assertEqual(kind.get_cset(), h5py.h5t.CSET_UTF8, name)
                self.assertEqual(kind.get_strpad(), h5py.h5t.STR_NULLPAD, name)

    def test_order_has_flag_names(self):
        order = self.cell["order"]
        self.assertEqual((order.dtype, list(order[()])), (np.uint8, [0, 1]))
        names = dict(zip(order.attrs["flag_values"], order.attrs["flag_meanings"].decode().split()))
        self.assertEqual(names, {0: "initial", 1: "reversed"})

    def test_hashes_of_the_spec(self):
        spec = self.file["spec"]
        for name in ("yaml", "resolved"):
            self.assertEqual(spec.attrs[f"sha256_{name}"].decode(), hashlib.sha256(spec[name][()]).hexdigest())


class ReadByUs(unittest.TestCase):
    def test_golden_files_are_seen_as_h5py_sees_them(self):
        for path in sorted(GOLDEN.glob("*.h5")):
            facts = seen_by_our_reader(path)
            with h5py.File(path, "r") as file:
                self.assertEqual(facts["environment"]["host"], file["environment"].attrs["host"].decode())
                self.assertEqual(set(facts) - {"environment"}, set(file["cells"]))
                for name, cell in file["cells"].items():
                    with self.subTest(file=path.name, cell=name):
                        self.check_cell(facts[name], cell)

    def check_cell(self, facts, cell):
        for attribute in ("model", "status", "reason"):
            self.assertEqual(facts[attribute], cell.attrs[attribute].decode("utf-8"))
        for attribute in ("hidden", "cp", "tokens_per_rank"):
            self.assertEqual(facts[attribute], str(cell.attrs[attribute]))
        for axis in ("operation", "arm"):
            self.assertEqual(facts[axis].split(), list(cell[axis].asstr()[()]))
        self.assertEqual(facts["order"].split(), [str(value) for value in cell["order"][()]])
        per_second = {b"s": 1.0, b"ms": 1e3, b"us": 1e6, b"ns": 1e9}.get(cell["latency"].attrs["units"])
        self.assertEqual(facts["faulty"], "0" if per_second else "1")
        if per_second:
            self.assertEqual(facts["shape"], "%d %d" % cell["latency"].shape[3:])
            np.testing.assert_array_equal(np.array(facts["latency"].split(), dtype=float), cell["latency"][()].ravel() / per_second)


class Documentation(unittest.TestCase):
    """Each ```python block of the page runs on a file that we wrote, and prints what the page says it prints."""

    def snippets(self):
        page = (SOURCE / "docs/file-format.md").read_text(encoding="utf-8")
        return re.findall(r"```python\n(.*?)```\n+(?:prints\n+```text\n(.*?)```)?", page, flags=re.S)

    def test_snippets(self):
        snippets = self.snippets()
        self.assertGreaterEqual(len(snippets), 3)
        for code, expected in snippets:
            with self.subTest(code=code), tempfile.TemporaryDirectory() as folder:
                if "import xarray" in code:
                    continue  # xarray_test.py
                subprocess.run([SAMPLE, "write", "result.h5"], cwd=folder, check=True, timeout=60)
                result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, timeout=60)
                self.assertEqual(result.returncode, 0, result.stderr.decode())
                self.assertEqual(result.stdout.decode("utf-8"), expected)

    def test_a_file_written_by_the_page_is_read_by_us(self):
        code = next(code for code, _ in self.snippets() if "h5py.File(\"made.h5\", \"w\"" in code)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=60)
            facts = seen_by_our_reader(pathlib.Path(folder) / "made.h5")
        self.assertEqual(facts["first"]["faulty"], "0")
        self.assertEqual(facts["first"]["arm"], "native_packed fused")


if __name__ == "__main__":
    unittest.main()
