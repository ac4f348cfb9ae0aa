"""Checks the rules of docs/architecture.md that neither the compiler nor the linker enforces.

Usage: check_layers.py ROOT. Prints one line a violation, `file:line: rule: what`, and exits 1 if there is any.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

# What each folder may include besides itself. The commands outside cli/measure also build without the measuring layers.
MAY_INCLUDE = {
    "core": [],
    "simulation": ["core"],
    "comm": ["core"],
    "ops": ["core", "comm"],
    "experiments": ["core", "simulation", "comm", "ops"],
    "analysis": ["core"],
    "cli": ["core", "analysis"],
    "cli/measure": ["core", "simulation", "analysis", "comm", "ops", "experiments", "cli"],
    "tests": ["core", "simulation", "comm", "ops", "experiments", "analysis", "cli"],
}

# Included name (pattern) -> the only files that may include it (patterns of the path).
CONFINED = {
    "Kokkos_*": ["*_kokkos.cpp"],
    "KokkosCore*": ["*_kokkos.cpp"],
    "cuda*": ["*_cuda.cu", "*_cuda.cuh"],
    "cublas*": ["*_cuda.cu", "*_cuda.cuh"],
    "nccl*": ["comm/nccl/*", "*_cuda.cu"],
    "hdf5*": ["core/record*.cpp"],
    "H5*": ["core/record*.cpp"],
    "yaml-cpp/*": ["experiments/*.cpp"],
    "mpi.h": ["comm/mpi/*"],
    "CLI/*": ["cli/*.cpp"],
    "nlohmann/*": ["*.cpp"],
}

MAX_LINES = {".hpp": 250, ".cpp": 400, ".cu": 400, ".cuh": 250}
MAX_FUNCTION_LINES = 60
MAX_MACROS = 6
EMPTY_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}
GUARD = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*(MPI|CUDA|NCCL|KOKKOS|HIP)", re.M)
GUARD_ALLOWED = ["core/host_device.hpp", "comm/mpi/*", "comm/nccl/*", "*_cuda.cu", "*_kokkos.cpp"]

# Names of package archives and paths of one machine are nobody else's business. Patterns, so that none is named here.
FOREIGN_HOST = re.compile(r"\b(deb|archive|mirrors?|snapshot|security|registry|pypi|files|packages)\.[a-z0-9-]+\.(org|com|net|io|dev)\b")
FOREIGN_PATH = re.compile(r"(?<![\w.$}~-])/(work|root|home)/\w")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def without_comments_and_strings(text):
    """The same text with comments, strings and character literals blanked; line numbers stay."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S
    )
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def functions(text):
    """(first line, last line) of each function body, lambdas inside a function being part of it."""
    code = without_comments_and_strings(text)
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*", "", code, flags=re.M)
    stack, found, head_start = [], [], 0
    for match in re.finditer(r"[{};]", code):
        position = match.start()
        if match.group() == "{":
            head = code[head_start:position]
            inside = any(kind == "function" for kind, _ in stack)
            scope = re.search(r"\b(namespace|struct|class|enum|union|extern|concept)\b[^()]*$", head)
            is_function = not inside and not scope and ")" in head and not head.rstrip().endswith(("=", ","))
            stack.append(("function" if is_function else "other", position))
        elif match.group() == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                found.append((line_of(code, start), line_of(code, position)))
        head_start = position + 1
    return found


def folder_of(path):
    parts = path.split("/")
    return "cli/measure" if parts[:2] == ["cli", "measure"] else parts[0]


def check_includes(path, text):
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    for match in re.finditer(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', code, re.M):
        line, bracket, name = line_of(code, match.start(2)), match.group(1), match.group(2)
        if bracket == '"':
            yield line, "spelling", f'"{name}" is included with quotes: write <megaup/...>'
        if name.startswith("megaup/"):
            layer, folder = name.split("/")[1], folder_of(path)
            if layer != folder and layer not in MAY_INCLUDE[folder]:
                yield line, "layers", f"{folder} may not include {name}"
        for pattern, allowed in CONFINED.items():
            if fnmatch.fnmatch(name, pattern) and not any(fnmatch.fnmatch(path, a) for a in allowed):
                yield line, "confined", f"{name} may be included only by {' '.join(allowed)}"


def check_size(path, text):
    limit = MAX_LINES[pathlib.PurePath(path).suffix]
    lines = text.count("\n")
    if lines > limit:
        yield lines, "size", f"{lines} lines, at most {limit}"
    for first, last in functions(text):
        if last - first + 1 > MAX_FUNCTION_LINES:
            yield first, "size", f"a function of {last - first + 1} lines, at most {MAX_FUNCTION_LINES}"


def check_text(path, text):
    for pattern, what in ((FOREIGN_HOST, "names a package archive"), (FOREIGN_PATH, "names a path of one machine")):
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), "portable", f"{what}: {match.group()}"


def check_names(path):
    for part in pathlib.PurePath(path).parts:
        if set(re.split(r"[_.]", part)) & EMPTY_NAMES:
            yield 1, "names", f"'{part}' does not say what it holds"


def check_file(path, text):
    yield from check_names(path)
    yield from check_text(path, text)
    if pathlib.PurePath(path).suffix in MAX_LINES and folder_of(path) in MAY_INCLUDE:
        yield from check_size(path, text)
        if not path.startswith("tests/install/project/"):
            yield from check_includes(path, text)
        if not any(fnmatch.fnmatch(path, allowed) for allowed in GUARD_ALLOWED):
            for match in GUARD.finditer(text):
                yield line_of(text, match.end()), "guards", f"{match.group().strip()}: CMake picks files instead"


def project_files(root):
    """What git would commit, or everything outside hidden and build folders where there is no git."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=False
    )
    if listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:
        paths = (path.relative_to(root) for path in sorted(pathlib.Path(root).rglob("*")))
        names = [str(path) for path in paths if not any(part.startswith(".") or part == "build" for part in path.parts)]
    return [name for name in names if (pathlib.Path(root) / name).is_file()]


def violations(root):
    macros = []
    for path in project_files(root):
        try:
            text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a binary file, such as a golden result
        for line, rule, what in check_file(path, text):
            yield f"{path}:{line}: {rule}: {what}"
        if pathlib.PurePath(path).suffix in MAX_LINES:
            macros += [(path, match.group(1)) for match in re.finditer(r"^\s*#\s*define\s+(\w+)", text, re.M)]
    names = sorted({name for _, name in macros})
    if len(names) > MAX_MACROS:
        yield f"{macros[0][0]}:1: macros: {len(names)} in all, at most {MAX_MACROS}: {' '.join(names)}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(violations(sys.argv[1]))
    print("\n".join(found) if found else "every rule holds")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
