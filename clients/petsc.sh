# PETSc's examples (Debian's petsc-dev, which is built for Open MPI, and the sources of the same
# package): the output with -sf_type neighbor, natively and under the preload, against the one with
# -sf_type basic.

# as PETSc's own tests compare the types
without_types() { grep -v 'type\|sort'; }

suite_petsc() {
  SUITE=PETSc
  case " $MPIS " in *" openmpi "*) ;; *) return ;; esac
  use_mpi openmpi
  if ! pkg-config --exists petsc; then
    skip "PETSc: there is no petsc-dev"
    return
  fi
  local why source=$WORK/src/petsc out=$WORK/petsc program ranks arguments name reference code
  why=$(debian_source petsc petsc '*/src/vec/is/sf/t*' '*/src/ksp/ksp/tutorials/ex*.c' '*/src/snes/tutorials/ex*.c' '*/src/ts/tutorials/ex*.c') ||
    { skip "PETSc: $why"; return; }
  mkdir -p "$out"
  while IFS='|' read -r program ranks arguments; do
    program=$(echo $program) ranks=$(echo $ranks) arguments=$(echo $arguments)
    case "$program" in '' | '#'*) continue ;; esac
    name=$(echo "$program" | tr / -)
    [ -e "$out/$name" ] ||
      $MPICC -O1 -w $(pkg-config --cflags petsc) "$source/src/$program.c" -o "$out/$name" $(pkg-config --libs petsc) -lm >"$LOGS/build.log" 2>&1 ||
      { fail "PETSc: $program: it does not build: $(grep -m1 'error\|undefined' "$LOGS/build.log")"; continue; }
    reference=$LOGS/petsc-reference-$(echo "$name $arguments $ranks" | tr -c 'A-Za-z0-9_\n-' _)
    launch_native "$ranks" "$out/$name" $arguments -sf_type basic >"$reference" 2>"$reference.err"
    code=$?
    if [ $code -ne 0 ]; then
      fail "PETSc: $program $arguments: natively with -sf_type basic it ends with exit code $code"
      continue
    fi
    REFERENCE=$reference FILTER=without_types \
      pair "$program${arguments:+ $arguments}" "$ranks" calls judge_same "$out/$name" $arguments -sf_type neighbor
  done <clients/petsc.table
}
