# DOLFINx (Debian's python3-dolfinx, which is built for Open MPI): Poisson's equation; what it
# prints natively and under the preload.

suite_dolfinx() {
  SUITE=DOLFINx
  case " $MPIS " in *" openmpi "*) ;; *) return ;; esac
  use_mpi openmpi
  if ! "$PYTHON" -c 'import dolfinx' 2>"$LOGS/build.log"; then
    skip "DOLFINx: there is no python3-dolfinx: $(tail -1 "$LOGS/build.log")"
    return
  fi
  # what it compiles at run time
  export XDG_CACHE_HOME=$WORK/dolfinx
  mkdir -p "$XDG_CACHE_HOME"
  local ranks code
  for ranks in 1 2 3 4; do
    TEST_TIMEOUT=300 launch_native "$ranks" "$PYTHON" clients/dolfinx/poisson.py >"$LOGS/dolfinx-reference-$ranks" 2>"$LOGS/dolfinx-reference-$ranks.err"
    code=$?
    if [ $code -ne 0 ]; then
      fail "DOLFINx: natively with $ranks ranks it ends with exit code $code: $(tail -1 "$LOGS/dolfinx-reference-$ranks.err")"
      continue
    fi
    REFERENCE=$LOGS/dolfinx-reference-$ranks FILTER=cat TEST_TIMEOUT=300 \
      pair poisson "$ranks" calls judge_poisson "$PYTHON" clients/dolfinx/poisson.py
  done
}

# the same lines as natively, nothing wrong in them, and the norms that one process has
judge_poisson() {
  judge_same "$1" "$2"
  [ "$(grep -c 'sums that are off: 0, wrong ghosts: 0$' "$1.out")" -eq 4 ] || echo "ghosts are wrong"
  diff <(norms <"$LOGS/dolfinx-reference-1") <(norms <"$1.out") >"$1.norms" || echo "its norms differ from those of one process"
}
norms() { sed -n 's/\(.*norm [0-9.]\{9\}\)[0-9]*\(e.*\)/\1\2/p'; }
