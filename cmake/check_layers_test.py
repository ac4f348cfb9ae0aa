"""Plants one violation of each rule in a tree that holds all of them, and expects check_layers to name it."""

import pathlib
import tempfile
import unittest

import check_layers

CLEAN = {
    "core/a.hpp": "#pragma once\n#include <vector>\nstruct A {\n  int f() const { return 1; }\n};\n",
    "core/record_file.cpp": "#include <hdf5.h>\n#include <megaup/core/a.hpp>\n",
    "comm/mpi/mpi.cpp": "#include <mpi.h>\n#include <megaup/core/a.hpp>\n#ifdef OPEN_MPI\n#endif\n",
    "ops/pack_kokkos.cpp": "#include <Kokkos_Core.hpp>\n",
    "experiments/yaml.cpp": "#include <yaml-cpp/yaml.h>\n#include <megaup/ops/b.hpp>\n",
    "cli/measure/run_command.cpp": "#include <megaup/experiments/spec.hpp>\n",
    "docs/text.md": "See <https://doi.org/1>. Files: {root}/work/x and ~/home/y.\n",
}
BODY = "  g();\n"
LONG_FUNCTION = "int f(int x) {\n" + BODY * 59 + "}\n"
MACROS = "".join(f"#define MEGAUP_{letter}\n" for letter in "ABCDEFG")

# (file, text, expected in the output)
PLANTED = [
    ("core/x.cpp", "#include <megaup/ops/b.hpp>\n", "core/x.cpp:1: layers: core may not include"),
    ("analysis/x.cpp", "\n#include <megaup/experiments/spec.hpp>\n", "analysis/x.cpp:2: layers: analysis may not include"),
    ("cli/x.cpp", "#include <megaup/comm/backend.hpp>\n", "layers: cli may not include"),
    ("core/x.cpp", '#include "a.hpp"\n', "spelling"),
    ("ops/pack.cpp", "#include <Kokkos_Core.hpp>\n", "confined: Kokkos_Core.hpp"),
    ("ops/pack_kokkos.hpp", "#include <Kokkos_Core.hpp>\n", "confined: Kokkos_Core.hpp"),
    ("ops/x.cpp", "#include <cuda_runtime.h>\n", "confined: cuda_runtime.h"),
    ("analysis/read.cpp", "#include <hdf5.h>\n", "confined: hdf5.h"),
    ("cli/x.cpp", "#include <yaml-cpp/yaml.h>\n", "confined: yaml-cpp/yaml.h"),
    ("comm/threads/x.cpp", "#include <mpi.h>\n", "confined: mpi.h"),
    ("analysis/x.hpp", "#include <nlohmann/json.hpp>\n", "confined: nlohmann/json.hpp"),
    ("comm/x.cpp", "#ifdef MEGAUP_MPI\n#endif\n", "comm/x.cpp:1: guards"),
    ("core/x.hpp", "\n" * 251, "size: 251 lines, at most 250"),
    ("core/x.cpp", "\n" * 401, "size: 401 lines, at most 400"),
    ("core/x.cpp", LONG_FUNCTION, "core/x.cpp:1: size: a function of 61 lines"),
    ("core/x.hpp", "struct X {\n  " + LONG_FUNCTION + "};\n", "core/x.hpp:2: size: a function of 61 lines"),
    ("core/x.hpp", MACROS, "macros: 7 in all, at most 6"),
    ("core/string_utils.cpp", "\n", "names: 'string_utils.cpp'"),
    ("common/x.md", "\n", "names: 'common'"),
    ("scripts/x", "fetch https://pypi." "example.org/simple\n", "portable: names a package archive"),
    ("docs/x.md", "see /" "work/main\n", "portable: names a path"),
]


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(check_layers.violations(root))


class CheckLayers(unittest.TestCase):
    def test_clean_tree_passes(self):
        self.assertEqual(check(CLEAN), [])

    def test_each_planted_violation_is_named_and_nothing_else(self):
        for file, text, expected in PLANTED:
            with self.subTest(file=file, expected=expected):
                found = check({**CLEAN, file: text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])

    def test_function_of_the_longest_allowed_length_passes(self):
        self.assertEqual(check({"core/x.cpp": LONG_FUNCTION.replace(BODY, "", 1)}), [])

    def test_comments_and_strings_do_not_count(self):
        text = '// #include <hdf5.h>\nconst char* s = "}{";\n/* {\n#include <mpi.h>\n*/\nchar c = \'{\';\nint n = 1\'000;\n'
        self.assertEqual(check({"ops/x.cpp": text}), [])


if __name__ == "__main__":
    unittest.main()
