"""The command that starts a program with the preload library."""

import os
import sys

from checks import check, finish, raises

from mpix_neighbor.run import command

os.environ["MPIEXEC"] = "srun --mpi=pmix"
os.environ["MPIX_NEIGHBOR_PRELOAD"] = "/lib/preload.so"
for options, mark, program in (
    (["-n", "4"], [], ["program.py", "-n", "7"]),
    (["-n", "4"], [], ["-m", "module", "program.py"]),
    # cores a process
    (["-n", "4", "-c", "2"], [], ["program.py"]),
    (["-n", "4", "-c", "2"], ["--"], ["-c", "print()", "--"]),
    ([], ["--"], ["program"]),
):
    words = command([*options, *mark, *program])
    start = ["srun", "--mpi=pmix", *options, "env"]
    check(words[: len(start)] == start, f"{start}: {words}")
    check(any(word.startswith("LD_PRELOAD=/lib/preload.so") for word in words), str(words))
    check(words[-len(program) - 1 :] == [sys.executable, *program], f"{program}: {words}")
for arguments in ([], ["-n", "4"], ["-n", "4", "--"]):
    error = raises(SystemExit, lambda: command(arguments))
    check("PROGRAM" in str(error), f"{arguments}: {error}")
# the loader takes such a path for several ones, none of which is there
for file in ("/my files/preload.so", "/my:files/preload.so"):
    os.environ["MPIX_NEIGHBOR_PRELOAD"] = file
    error = raises(SystemExit, lambda: command(["program.py"]))
    check(file in str(error), str(error))
finish()
