# MPICH's own tests (Debian's source package): the neighborhood collectives, all topology programs
# in C and Fortran, and, with `all`, the programs that complete requests of every other kind, which
# must not notice that the completion calls are taken over.

# the tests print this when nothing failed, by rank 0, and return how many checks failed
judge_mtest() {
  ended "$2"
  grep -q "No Errors" "$1.out" || grep -h -o "Found [0-9]* errors" "$1.out" || echo "it did not say that there are no errors"
}

suite_mpich() {
  SUITE="MPICH's tests"
  local why tests=$WORK/src/mpich/test/mpi
  why=$(debian_source mpich mpich '*/test/mpi/*') || { skip "MPICH's tests: $why"; return; }
  local config=$WORK/mpich/include
  mkdir -p "$config"
  # what its configure script finds on any Linux with glibc
  cat >"$config/mpitestconf.h" <<'END'
#define HAVE_STDLIB_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRING_H 1
#define HAVE_UNISTD_H 1
#define HAVE_ERRNO_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_GETRUSAGE 1
#define HAVE_USLEEP 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_PTHREAD_H 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
END
  local mpi
  # the programs of all MPIs are compiled side by side first: a pass in which none is run. What does
  # not compile is compiled again below, and reported there
  for mpi in $MPIS; do
    (
      pair() { :; }
      skip() { :; }
      fail() { :; }
      LOGS=$LOGS/compile-$mpi
      mkdir -p "$LOGS"
      use_mpi "$mpi"
      mpich_programs "$tests" "$config"
    ) &
  done
  wait
  for mpi in $MPIS; do
    use_mpi "$mpi"
    mpich_programs "$tests" "$config"
  done
}

mpich_programs() {
  local tests=$1 out=$WORK/mpich/$MPI extra="" unit name ranks kind left program threads limit
  # these tests leave out the collectives of MPI 4 where the MPI is not MPICH; Open MPI 4 has them
  local flags="-O1 -w -I$2 -I$tests/include -I$tests/dtpools/include -DTEST_NEIGHB_COLL=1"
  if [ "$MPI" = openmpi ]; then extra="-include $PWD/clients/openmpi4-init.h"; fi
  mkdir -p "$out"
  for unit in mtest mtest_common mtest_single mtest_thread; do
    [ -e "$out/$unit.o" ] || $MPICC $flags -c "$tests/util/$unit.c" -o "$out/$unit.o" >"$LOGS/build.log" 2>&1 ||
      { fail "MPICH's tests, $MPI_NAME: its library of tests does not build: $(grep -m1 error "$LOGS/build.log")"; return; }
  done
  while read -r kind name ranks; do
    limit=60
    case $MPI,$name,$ranks in
      openmpi,coll/nonblocking[23],*) continue ;; # they keep datatypes in int, which only MPICH's handles fit
      mpich,coll/nonblocking3,4 | mpich,comm/cmfree,4 | mpich,threads/*,4)
        if [ "$(nproc)" -lt 4 ]; then
          skip "MPICH's tests: $name, $MPI_NAME, 4 ranks: it waits busily, and takes minutes on fewer cores"
          continue
        fi
        ;;
      mpich,topo/distgraph1,4)
        # thousands of communicators, waited for busily
        [ "$MODE" = all ] || [ "$(nproc)" -ge 4 ] || continue
        limit=300
        ;;
    esac
    program=$out/$(echo "$name" | tr / -)
    case $name in threads/*) threads=thread ;; *) threads=single ;; esac
    if [ ! -e "$program" ] &&
      ! $MPICC $flags $extra "$tests/$name.c" "$out/mtest.o" "$out/mtest_common.o" "$out/mtest_$threads.o" -o "$program" -lpthread >"$LOGS/build.log" 2>&1; then
      # what only passes through may ask for more of MPI than this one has
      case $kind in none) left=skip ;; *) left=fail ;; esac
      $left "MPICH's tests: $name, $MPI_NAME: it does not build: $(grep -m1 'error\|undefined' "$LOGS/build.log")"
      continue
    fi
    TEST_TIMEOUT=$limit pair "$name" "$ranks" "$kind" judge_mtest "$program"
  done < <(mpich_list "$tests")
  mpich_fortran "$tests"
}

# kind, program and ranks of what is run, from the lists of the tests themselves
mpich_list() {
  sed -n 's/^\(p_\)\{0,1\}\(neighb_[a-z]*\|ring_neighbor_alltoall\) \([0-9]*\).*/calls coll\/\1\2 \3/p' "$1/coll/testlist.in" | sort -u
  sed -n 's/^\([a-z][a-z0-9_]*\) \([0-9]*\).*/topology topo\/\1 \2/p' "$1/topo/testlist" | { [ "$MODE" = all ] && cat || grep -v topo/dims; }
  [ "$MODE" = all ] || return 0
  # programs of one source file that start and complete requests, or duplicate communicators
  local directory name ranks
  for directory in pt2pt coll comm threads/pt2pt threads/coll threads/comm; do
    while read -r name ranks; do
      [ "$ranks" -le 4 ] && [ -e "$1/$directory/$name.c" ] || continue
      case $name in neighb_* | p_neighb_* | ring_neighbor*) continue ;; esac
      [ "${directory#threads}" != "$directory" ] || grep -q 'MPI_\(Wait\|Test\)\(any\|some\|all\|\)\b\|MPI_Start\|MPI_Cancel\|MPI_Request_\|MPI_Comm_i*dup' "$1/$directory/$name.c" || continue
      ! grep -q 'mtest_dtp\|dtpools' "$1/$directory/$name.c" || continue
      echo "none $directory/$name $ranks"
    done < <(sed -n 's/^\([a-z][A-Za-z0-9_]*\) \([0-9][0-9]*\)\( mpiversion=[0-9.]*\| strict=false\)*$/\1 \2/p' "$1/$directory"/testlist "$1/$directory/testlist.in" 2>/dev/null | sort -u)
  done
}

# what makes and asks for topologies from Fortran: mpif.h, the module mpi, the module mpi_f08
mpich_fortran() {
  local tests=$1 compiler=mpif90.$MPI form name ranks source directory
  if ! command -v "$compiler" >/dev/null; then
    skip "MPICH's tests in Fortran, $MPI_NAME: there is no $compiler"
    return
  fi
  for form in f77 f90 f08; do
    directory=$WORK/mpich/$MPI/$form
    mkdir -p "$directory"
    local flags="-O1 -w -fallow-argument-mismatch -fallow-invalid-boz -I$tests/$form/include -I$directory -J$directory"
    case $form in f77) source=f ;; *) source=f90 ;; esac
    if ! (cd "$directory" && $compiler $flags -c "$tests/util/mtest_$form.$source" -o mtest.o) >"$LOGS/build.log" 2>&1; then
      fail "MPICH's tests in Fortran ($form), $MPI_NAME: its library of tests does not build: $(grep -m1 Error "$LOGS/build.log")"
      continue
    fi
    while read -r name ranks; do
      [ -e "$directory/$name" ] ||
        (cd "$directory" && $compiler $flags "$tests/$form/topo/$name.$source" mtest.o -o "$name") >"$LOGS/build.log" 2>&1 ||
        { fail "MPICH's tests: $form/topo/$name, $MPI_NAME: it does not build: $(grep -m1 Error "$LOGS/build.log")"; continue; }
      TEST_TIMEOUT=60 pair "$form/topo/$name" "$ranks" topology judge_mtest "$directory/$name"
    done < <(sed -n 's/^\([a-z][a-z0-9_]*\) \([0-9]*\).*/\1 \2/p' "$tests/$form/topo/testlist")
  done
}
