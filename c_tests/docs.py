"""Runs the fenced blocks of README.md, CONTRIBUTING.md and docs/*.md. Called by c_tests/docs.

The info string of a block says what it is:

  c, fortran                    a program: compiled with warnings as errors, linked, and run
  c fragment, fortran fragment  lines of a program: compiled within a skeleton
  sh                            commands: the blocks of a page run in one shell, in their order
  text output                   what the program before it prints, lines in any order
  python                        a program, which scripts/test-python runs
  text, json, ...               not looked at

An HTML comment right before a block changes that:

  <!-- not run: REASON -->      skipped; the reason is printed
  <!-- ranks: 2 4 -->           numbers of processes of a program (default: 2 and 3)
  <!-- with: DECLARATIONS -->   put in front of a fragment
  <!-- setup: COMMANDS -->      run before a sh block

Commands run in a directory of their own, which has links to the source tree. `mpicc`, `mpirun` and
`mpifort`, with or without `.mpich` or `.openmpi`, stand for those of the MPI under test; a line
that ends with `# Open MPI` or `# MPICH` runs with that MPI alone.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MPICC, MPIRUN, MPIFC, KEY = (os.environ[name] for name in ("MPICC", "MPIRUN", "MPIFC", "KEY"))
TREE = Path.cwd()
BUILT = TREE / "target" / KEY / "release"
FENCE = re.compile(r"^```(.*)$")
MARK = re.compile(r"^(not run|ranks|with|setup):\s*(.*)$", re.S)
# commands of one page may make what those of another one make
SHELL = threading.Lock()
TIMEOUT = int(os.environ.get("TEST_TIMEOUT", 240))
# an empty neighborhood list has no address
C_FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overread", "-Wno-stringop-overflow",
           "-Wno-array-bounds", f"-I{TREE}/include"]
C_LINK = [f"-L{BUILT}", "-lmpix_neighbor", f"-Wl,-rpath,{BUILT}", "-lm"]
FORTRAN_FLAGS = ["-std=f2018", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{TREE}/build/{KEY}/fortran"]
FORTRAN_LINK = [f"-L{BUILT}", "-lmpix_neighbor_fortran", "-lmpix_neighbor", f"-Wl,-rpath,{BUILT}"]
C_SKELETON = """#include <mpi.h>
#include <mpix_neighbor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void fragment(void);
void fragment(void) {
%s
#line 1 "%s"
%s
}
"""
FORTRAN_SKELETON = """subroutine fragment()
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use mpix_neighbor
  implicit none
%s
%s
end subroutine fragment
"""


class Block:
    def __init__(self, page, line, info, text, marks):
        self.page, self.line, self.info, self.text, self.marks = page, line, info, text, marks
        self.place = f"{page}:{line}"

    def reason(self):
        return self.marks.get("not run")


def blocks(page):
    """The fenced blocks of a page, with the marks of the comments right before them."""
    found, marks, inside, comment = [], {}, None, None
    for number, line in enumerate((TREE / page).read_text().splitlines(), 1):
        if inside is not None:
            if line.startswith("```"):
                found.append(Block(page, inside[0], inside[1], "\n".join(inside[2]) + "\n", marks))
                inside, marks = None, {}
            else:
                inside[2].append(line)
            continue
        if comment is not None or line.startswith("<!--"):
            comment = line if comment is None else comment + "\n" + line
            if "-->" in comment:
                text = comment[4 : comment.index("-->")].strip()
                comment = None
                mark = MARK.match(text)
                if mark:
                    marks[mark[1]] = mark[2]
            continue
        fence = FENCE.match(line)
        if fence:
            inside = (number, fence[1].strip(), [])
        elif line.strip():
            marks = {}
    if inside:
        raise SystemExit(f"{page}:{inside[0]}: the block has no end")
    return found


def run(command, **more):
    """Exit code and all output of a command."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             text=True, errors="replace", start_new_session=True, **more)
    try:
        output = child.communicate(timeout=TIMEOUT)[0]
        return child.returncode, output
    except subprocess.TimeoutExpired:
        # its children too
        os.killpg(child.pid, signal.SIGKILL)
        return 124, child.communicate()[0] + f"no end within {TIMEOUT} s\n"


class Pages:
    def __init__(self, work):
        self.work, self.failed, self.passed, self.skipped = work, [], 0, []
        self.fortran = shutil.which(MPIFC) is not None and run([MPIFC, "--version"])[0] == 0
        version = run([MPIRUN, "--version"])[1]
        self.other = "MPICH" if re.search("Open MPI|OpenRTE", version) else "Open MPI"

    def fail(self, block, what, output):
        print(f"FAILED  {block.place}: {what}\n{output}")
        self.failed.append(block.place)

    def compile(self, command, block):
        code, output = run(command, cwd=self.work)
        if code:
            self.fail(block, "does not compile", output)
        return code == 0

    def source(self, block, text, suffix):
        name = re.sub(r"\W", "_", block.place)
        path = self.work / (name + suffix)
        path.write_text(text)
        return path

    def fragment(self, block, language):
        with_ = block.marks.get("with", "")
        if language == "c":
            path = self.source(block, C_SKELETON % (with_, block.place, block.text), ".c")
            command = [MPICC, *C_FLAGS, "-Wno-unused", "-Wno-unused-parameter", "-Wno-uninitialized", "-fsyntax-only", path]
        else:
            path = self.source(block, FORTRAN_SKELETON % (with_, block.text), ".f90")
            command = [MPIFC, *FORTRAN_FLAGS, "-Wno-unused", "-fsyntax-only", path]
        if self.compile(command, block):
            self.passed += 1

    def program(self, block, language):
        """What the program printed with the largest number of processes."""
        path = self.source(block, block.text, {"c": ".c", "fortran": ".f90"}[language])
        binary = path.with_suffix("")
        if language == "c":
            command = [MPICC, *C_FLAGS, path, "-o", binary, *C_LINK]
        else:
            command = [MPIFC, *FORTRAN_FLAGS, path, "-o", binary, *FORTRAN_LINK]
        if not self.compile(command, block):
            return None
        for ranks in block.marks.get("ranks", "2 3").split():
            code, output = run([MPIRUN, "-n", ranks, binary], cwd=self.work, env=self.environment(int(ranks)))
            if code:
                self.fail(block, f"exit code {code} with {ranks} processes", output)
                return None
        self.passed += 1
        return output

    def environment(self, ranks):
        """As `launch` in scripts/mpi.sh: processes of MPICH that wait keep the cores of others."""
        yielding = TREE / "build" / KEY / "libyield.so"
        crowded = self.other == "Open MPI" and ranks > os.cpu_count() and yielding.exists()
        return {**os.environ, "LD_PRELOAD": str(yielding)} if crowded else None

    def same(self, block, output):
        want, have = ([line.rstrip() for line in text.splitlines() if line.strip()] for text in (block.text, output))
        missing = sorted(set(want) - set(have))
        if missing:
            self.fail(block, "these lines are not printed:", "\n".join(missing) + f"\nbut\n{output}")
        else:
            self.passed += 1

    def commands(self, page, shell):
        """Runs the sh blocks of a page, in one shell; fails with the block that fails."""
        if not shell:
            return
        place = self.work / ("sh_" + re.sub(r"\W", "_", page))
        (place / "build").mkdir(parents=True)
        for entry in TREE.iterdir():
            if entry.name not in ("build", "target", ".git"):
                (place / entry.name).symlink_to(entry)
        (place / "target").symlink_to(TREE / "target")
        (place / "build" / KEY).symlink_to(TREE / "build" / KEY)
        tool = TREE / "build" / KEY / "mpix-neighbor"
        (place / "build" / "mpix-neighbor").symlink_to(tool)
        script = [
            "set -e -o pipefail",
            f'make() {{ command make --no-print-directory -C "{TREE}" "$@"; }}',
            f'export PATH="{tool.parent}:$PATH" HOME="{place}/home"; mkdir -p "$HOME"',
            'trap \'[ $? -eq 0 ] || echo "in the block at $block"\' EXIT',
        ]
        for block in shell:
            text = "".join(
                line + "\n" for line in block.text.splitlines() if not line.rstrip().endswith("# " + self.other)
            )
            text = block.marks.get("setup", "") + "\n" + text
            text = re.sub(r"\b(build|target)/mpicc\b(\.mpich|\.openmpi)?", rf"\1/{KEY}", text)
            for name, real in (("mpicc", MPICC), ("mpirun", MPIRUN), ("mpifort", MPIFC)):
                text = re.sub(rf"(?<![/\w.-]){name}(\.mpich|\.openmpi)?(?![\w.-])", lambda _: real, text)
            script += [f"block={block.place}", text]
        cargo = {"CARGO_HOME": os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo")),
                 "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))}
        with SHELL:
            code, output = run(["bash", "-c", "\n".join(script)], cwd=place, env={**os.environ, **cargo})
        if code:
            self.fail(shell[0], f"exit code {code}", output)
        else:
            self.passed += len(shell)
        return output

    def page(self, page):
        output, shell = None, []
        for block in blocks(page):
            language, _, kind = block.info.partition(" ")
            if block.reason():
                self.skipped.append(f"{block.place}: {block.reason()}")
                output = None
            elif language == "fortran" and not self.fortran:
                self.skipped.append(f"{block.place}: {MPIFC or 'MPIFC'} has no Fortran compiler")
                output = None
            elif language in ("c", "fortran"):
                if kind == "fragment":
                    self.fragment(block, language)
                elif kind:
                    self.fail(block, f"unknown info string {block.info}", "")
                else:
                    output = self.program(block, language)
            elif language == "sh":
                shell.append(block)
            elif block.info == "text output" and output is not None:
                self.same(block, output)
        self.commands(page, shell)


def main():
    pages = sys.argv[1:] or ["README.md", "CONTRIBUTING.md", *(str(p.relative_to(TREE)) for p in sorted(TREE.glob("docs/*.md")))]
    with tempfile.TemporaryDirectory() as work:
        def try_page(page):
            begun, done = time.monotonic(), Pages(Path(work))
            done.page(page)
            word = "FAILED " if done.failed else "ok     "
            print(f"{word} {page} ({time.monotonic() - begun:.1f} s)", flush=True)
            return done

        with ThreadPoolExecutor(int(os.environ.get("LANES", 1))) as lanes:
            done = list(lanes.map(try_page, pages))
    for line in (line for page in done for line in page.skipped):
        print(f"not run {line}")
    passed, failed, skipped = (sum(page) for page in zip(*((p.passed, len(p.failed), len(p.skipped)) for p in done)))
    print(f"documentation with {MPICC}:")
    print(f"{passed} passed, {failed} failed, {skipped} not run")
    sys.exit(1 if failed or not passed else 0)


main()
