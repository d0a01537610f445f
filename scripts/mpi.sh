# For scripts: how the MPI behind $MPICC is started. Sourced, not run.
: "${MPICC:=mpicc}"
. "$(dirname "${BASH_SOURCE[0]}")/wrapper.sh"
: "${MPIRUN:=$(sibling mpirun)}"
: "${MPIRUN:=${MPICC%"${MPICC##*/}"}mpirun}"
OUT=build/$KEY
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# more processes than cores: Open MPI 4, and 5
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# drivers of two adapters, which each launch of Open MPI waits for, 0.1 s each, where there is none
[ -e /dev/ipath ] || [ -e /dev/hfi1_0 ] || export OMPI_MCA_mtl="${OMPI_MCA_mtl-^ofi,psm,psm2}"
export RUST_BACKTRACE=0
# The last line of a test program in which every check held, for grep. It need not begin a line of
# the log: mpirun may write it into the middle of what another process writes to standard error.
# shellcheck disable=SC2034
all_held="[1-9][0-9]* checks, 0 failed"

# what is tested from here on knows no parameters of the machine, which change what is chosen:
# neither the user's nor those that an earlier run of this script has left
without_parameters() {
  local empty=$PWD/$OUT/parameters/${0//\//-}
  rm -rf "$empty"
  export XDG_CONFIG_HOME=$empty/config XDG_CACHE_HOME=$empty/cache
}

# launch RANKS [OPTION...] PROGRAM...
#   $preloaded is preloaded into the processes
launch() {
  local ranks=$1 libraries=${preloaded:-} options=()
  shift
  if is_hydra && [ "$ranks" -gt "$(nproc)" ] && [ -e "$OUT/libyield.so" ]; then
    libraries=${libraries:+$libraries:}$PWD/$OUT/libyield.so
  fi
  if [ -n "$libraries" ]; then
    if is_hydra; then options=(-genv LD_PRELOAD "$libraries"); else options=(-x LD_PRELOAD="$libraries"); fi
  fi
  timeout "${TEST_TIMEOUT:-120}" "$MPIRUN" -n "$ranks" "${options[@]}" "$@" </dev/null
}
# whether the launcher is MPICH's
hydra=
is_hydra() {
  [ -n "$hydra" ] || { "$MPIRUN" --version 2>/dev/null | grep -i hydra >/dev/null && hydra=yes || hydra=no; }
  [ $hydra = yes ]
}
# How many launches go on side by side: those of Open MPI wait for most of their time. Processes of
# MPICH keep the cores on which they wait.
lanes() {
  if is_hydra && [ "$(nproc)" -lt 8 ]; then echo 1; else echo $(($(nproc) + 1)); fi
}
# side_by_side NAME LANES: from here on `beside COMMAND...` runs up to LANES commands side by side,
# each with a file $log of its own. What a command prints, its verdict first, goes to standard output
# when it has ended. `all_ended PATTERN` waits for the last ones, and sets $passed to the number of
# verdicts that match, $failed to that of all other commands. Launches of Open MPI side by side get a
# folder each: one that ends removes the folder of all that another has just found, and fails to fill.
side_by_side() {
  beside_name=$1 beside_lanes=$2 beside_cases=0 results=$OUT/$1.results
  : >"$results"
  # a process that waits leaves its core to those of other launches
  [ "$2" -eq 1 ] || export OMPI_MCA_mpi_yield_when_idle=1
}
beside() {
  while [ "$(jobs -rp | wc -l)" -ge "$beside_lanes" ]; do wait -n; done
  log=$OUT/$beside_name.$((++beside_cases)).log
  : >"$log"
  (
    sessions=$(mktemp -d)
    export OMPI_MCA_orte_tmpdir_base=$sessions PRTE_MCA_prte_tmpdir_base=$sessions
    said=$("$@" 2>&1)
    rm -rf "$sessions"
    echo "$said"
    echo "${said%%$'\n'*}" >>"$results"
    rm -f "$log"
  ) &
}
all_ended() {
  wait
  passed=$(grep -c "$1" "$results") failed=$((beside_cases - passed))
}
# Open MPI in shared memory: two copies in place of one out of the sender's memory, which is slow
# without huge pages, and longer eager messages. `tuned` runs what follows it so. Debian's
# mpirun.openmpi goes by the name of OpenRTE; Open MPI 5 calls the component sm, and the single
# copies are a framework of their own.
tunable() { "$MPIRUN" --version 2>&1 | grep -qE "Open MPI|OpenRTE"; }
tuned() {
  if "$MPIRUN" --version 2>&1 | grep -qE "(Open MPI|OpenRTE)\) 4"; then
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_vader_eager_limit=65536 OMPI_MCA_btl_vader_max_send_size=131072 "$@"
  else
    OMPI_MCA_smsc=^cma,xpmem,knem OMPI_MCA_btl_sm_eager_limit=65536 OMPI_MCA_btl_sm_max_send_size=131072 "$@"
  fi
}
