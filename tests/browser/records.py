"""Result files with made-up times, for the browser tests. Written with h5py alone, as docs/file-format.md describes the format."""

import h5py
import numpy as np

OPERATIONS = ["qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"]
ABBA = [0, 1, 1, 0]


def text(value):
    return np.bytes_(value.encode("utf-8"))


class Writer:
    """with Writer(path) as out: out.cell(...)"""

    def __init__(self, path, host="node-a", source="measured", fabric="host-memory", device="example GPU"):
        self.file = h5py.File(path, "w", libver=("earliest", "v110"))
        attributes = {"format": "megaup-measurement", "format_version": "1.0.0", "created": "2026-11-29T12:00:00Z", "megaup_version": "0.1.0",
                      "git": "0" * 40, "source": source, "fabric": fabric}
        for name, value in attributes.items():
            self.file.attrs[name] = text(value)
        environment = self.file.create_group("environment")
        for name, value in {"host": host, "device": device, "communicator": "threads"}.items():
            environment.attrs[name] = text(value)
        spec = self.file.create_group("spec")
        spec["yaml"], spec["resolved"] = text("spec_version: 1\n"), text("{}")
        spec.attrs["sha256_yaml"] = text("0" * 64)
        self.cells = self.file.create_group("cells")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def cell(self, name, latency, arms=("native_packed", "fused"), model="llama-3.1-8b", cp=2, tokens=2048, status="measured", reason=""):
        """latency [operation, arm, block, observation, rank] in milliseconds; the blocks run in ABBA order."""
        group = self.cells.create_group(name)
        for key, value in {"model": model, "status": status, "reason": reason, "dtype": "bf16", "format": "sbhd", "sequence_order": "contiguous",
                           "qkv_weight": "grouped"}.items():
            group.attrs[key] = text(value)
        for key, value in {"hidden": 4096, "query_heads": 32, "kv_heads": 8, "head_dim": 128, "cp": cp, "batch": 8, "tokens_per_rank": tokens}.items():
            group.attrs[key] = np.int64(value)
        data = group.create_dataset("latency", data=np.asarray(latency, dtype="f8") * 1e-3)
        data.attrs["units"] = text("s")
        blocks = data.shape[2]
        axes = [("operation", np.array([text(name) for name in OPERATIONS])), ("arm", np.array([text(arm) for arm in arms])),
                ("block", np.arange(blocks)), ("observation", np.arange(data.shape[3])), ("rank", np.arange(data.shape[4]))]
        for axis, (label, values) in enumerate(axes):
            scale = group.create_dataset(label, data=values)
            scale.make_scale(label)
            data.dims[axis].label = label
            data.dims[axis].attach_scale(scale)
        group.create_dataset("order", data=np.array([ABBA[block % 4] for block in range(blocks)], dtype="u1"))


def noisy(random, saving, blocks=2, arms=2, observations=40, ranks=2, scale=1.0):
    """Four operations of 1.0, 0.7, 0.7 and 1.0 ms times `scale`; arm 1 saves that share, a third arm (control) is like the first, and two
    further arms (bounds) take 80 % and 30 % of it."""
    base = np.array([1.0, 0.7, 0.7, 1.0])[:, None, None, None, None] * scale
    factor = np.array([1.0, 1.0 - saving, 1.0, 0.8, 0.3])[:arms][None, :, None, None, None]
    block = 1 + random.normal(0, 0.005, (4, arms, blocks, 1, 1))
    return base * factor * block * random.lognormal(0, 0.02, (4, arms, blocks, observations, ranks))


WITH_BOUNDS = ("native_packed", "fused", "control", "gemm_only", "exchange_only")


def write_mixed(path, blocks=4):
    """Every kind of row: savings, a loss, nothing, and cells that failed or are incomplete; with A/A comparison and bounds."""
    random = np.random.default_rng(4)
    with Writer(path) as out:
        number = 0
        for model, size in (("llama-3.1-8b", 1.0), ("qwen3-32b", 1.9), ("gpt-3-175b", 4.1)):
            for cp in (2, 4, 8):
                for tokens, saving in ((2048, 0.12), (4096, 0.03 if cp < 8 else 0.0), (8192, -0.04 if cp > 2 else 0.06)):
                    out.cell(f"c{number:03}", noisy(random, saving, blocks, 5, scale=size), WITH_BOUNDS, model, cp, tokens)
                    number += 1
        x = noisy(random, 0.1, blocks, 5)
        x[1, 1, 0, 19, 0] = np.nan
        out.cell("nan", x, WITH_BOUNDS, "llama-3.1-8b", 16, 2048)
        out.cell("failed", np.full((4, 5, blocks, 40, 2), np.nan), WITH_BOUNDS, "qwen3-32b", 16, 2048, "failed",
                 "validation: out_fwd rank 1, error 0.4 above 0.01")


def write_many(path, rows, blocks=2):
    random = np.random.default_rng(5)
    latency = noisy(random, 0.1, blocks)
    with Writer(path) as out:
        for row in range(rows):
            factor = np.array([1.0, 1.0 + 0.15 * np.sin(row)])[None, :, None, None, None]
            out.cell(f"c{row:05}", latency * factor, model=f"model-{row % 10}", cp=2 ** (1 + row // 10 % 4), tokens=1024 * (1 + row // 40))
