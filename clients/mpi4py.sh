# mpi4py 4's own tests of neighborhood collectives and topologies, from the sources that PyPI has,
# built for each MPI.

# each rank runs the whole suite and must say OK; what failed is named
judge_unittest() {
  local failures ok
  failures=$(grep -h -o '^\(FAIL\|ERROR\): [A-Za-z0-9_]* ([A-Za-z0-9_.]*' "$1.err" "$1.out" | sed 's/ (/ of /' | sort -u)
  [ -z "$failures" ] || echo "$failures"
  ok=$(cat "$1.err" "$1.out" | grep -c '^OK')
  # an extension module of the other MPI makes processes that do not know of each other
  grep -q "^\[0@.*($MPI_NAME" "$1.err" || echo "mpi4py runs with another MPI"
  if [ -z "$failures" ]; then
    ended "$2"
    [ "$ok" -eq "$3" ] || echo "$ok of $3 ranks said OK"
  fi
  # a test that its suite leaves out was not passed: the same ones natively and under the preload
  cat "$1.err" "$1.out" | grep '^OK' | sort >"$1.oks"
  case $1 in *.preload) cmp -s "$1.oks" "${1%.preload}.native.oks" || echo "other tests were left out than natively" ;; esac
}

suite_mpi4py() {
  SUITE=mpi4py
  local mpi source=$WORK/src/mpi4py
  if ! "$PYTHON" -c 'import venv, ensurepip, sysconfig, os; assert os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null; then
    skip "mpi4py: Python with venv and its header files is missing"
    return
  fi
  if [ ! -e "$source/.complete" ]; then
    mkdir -p "$source" "$WORK/pypi"
    # what would build it is asked for its metadata, and not to be compiled first: that is Cython
    if ! "$PYTHON" -m pip download -q --no-binary mpi4py --no-deps -d "$WORK/pypi" 'mpi4py==4.*' >"$LOGS/fetch.log" 2>&1; then
      skip "mpi4py: its sources cannot be fetched: $(tail -1 "$LOGS/fetch.log")"
      return
    fi
    tar -xf "$(ls "$WORK"/pypi/mpi4py-4*.tar.gz | tail -1)" -C "$source" --strip-components=1 &&
      ls "$WORK"/pypi | sed -n 's/^mpi4py-\(.*\)\.tar\.gz$/mpi4py \1/p' | tail -1 >"$source/.complete"
  fi
  # side by side: each is one file for one core
  for mpi in $MPIS; do (use_mpi "$mpi" && mpi4py_build "$source") & done
  wait
  for mpi in $MPIS; do
    use_mpi "$mpi"
    mpi4py_tests "$source"
  done
}

# builds it for one MPI where that is not done, from a copy of the sources
mpi4py_build() {
  local venv=$WORK/mpi4py/$MPI copy=$WORK/mpi4py/source-$MPI flags="-O0 -g0"
  if [ "$MPI" = openmpi ]; then
    flags="$flags -include $PWD/clients/openmpi4-init.h"
    [ "$venv/.complete" -nt clients/openmpi4-init.h ] || rm -f "$venv/.complete"
  fi
  [ ! -e "$venv/.complete" ] || return 0
  echo "building mpi4py for $MPI_NAME"
  rm -rf "$venv" "$copy"
  mkdir -p "$WORK/mpi4py"
  { cp -r "$1" "$copy" && "$PYTHON" -m venv "$venv" &&
    CFLAGS=$flags "$venv/bin/pip" install -q --disable-pip-version-check --no-cache-dir "$copy" &&
    touch "$venv/.complete"; } >"$LOGS/mpi4py-build-$MPI.log" 2>&1
  rm -rf "$copy"
}

mpi4py_tests() {
  local source=$1 venv=$WORK/mpi4py/$MPI ranks test limit=60 list="1 2 4 5" need
  if [ ! -e "$venv/.complete" ]; then
    fail "mpi4py, $MPI_NAME: it does not build: $(tail -1 "$LOGS/mpi4py-build-$MPI.log")"
    return
  fi
  # MPICH waits busily: with more ranks than cores it takes a minute for one suite
  if [ "$MODE" = quick ]; then
    case $MPI in mpich) list="1 2" ;; *) list="1 4" ;; esac
  fi
  [ "$MPI" = openmpi ] || limit=300
  for ranks in $list; do
    for test in test_cco_ngh_buf test_cco_ngh_obj test_cco_pr_ngh_buf test_comm_topo; do
      need=calls
      if [ $test = test_comm_topo ]; then need=topology; fi
      TEST_TIMEOUT=$limit pair $test "$ranks" $need judge_unittest "$venv/bin/python" "$source/test/main.py" --no-builddir -i "$test"
    done
  done
  [ "$MODE" = all ] || return 0
  # what passes through: all that completes requests and makes communicators, in one run
  TEST_TIMEOUT=300 pair "other tests of requests and communicators" 2 none judge_unittest "$venv/bin/python" "$source/test/main.py" --no-builddir \
    -i test_request -i test_grequest -i test_p2p_buf -i test_p2p_obj -i test_cco_buf -i test_cco_nb_buf -i test_cco_pr_buf -i 'test_comm$' \
    -i test_attributes -i test_errhandler -i test_threads
}
