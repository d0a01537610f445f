# For the suites of client programs: what they fetch, how a program is run natively and under the
# preload library, and what is said of it. Sourced by clients/run, not run. Everything that is
# fetched or built lies under $WORK.

# where make puts the library for the MPI in use
PRELOAD_FILE='target/mpicc.%MPI%/release/libmpix_neighbor_preload.so'
WORK=$PWD/build/clients
LOGS=$WORK/logs
PYTHON=${CLIENTS_PYTHON:-/usr/bin/python3}
[ -x "$PYTHON" ] || PYTHON=$(command -v python3 || true)
mkdir -p "$LOGS"
# a user's own parameters of the machine change what the preload chooses, and so do those that an
# earlier run has left
export XDG_CONFIG_HOME=$WORK/parameters/config XDG_CACHE_HOME=$WORK/parameters/cache
rm -rf "$WORK/parameters"
passed=0 mended=0 known=0 failed=0 skipped=0 taken=0

# the MPI by the name of its compiler wrapper: openmpi or mpich
use_mpi() {
  MPI=$1
  export MPICC=mpicc.$MPI
  unset MPIRUN
  . scripts/mpi.sh
  case $MPI in
    openmpi) MPI_NAME="Open MPI" ;;
    mpich) MPI_NAME=MPICH ;;
    *) MPI_NAME=$MPI ;;
  esac
  PRELOAD=${CLIENTS_PRELOAD:-$PWD/$PRELOAD_FILE}
  PRELOAD=${PRELOAD//%MPI%/$MPI}
  [ "$PRELOAD" = no ] || [ -e "$PRELOAD" ] || { echo "clients: there is no $PRELOAD: make preload MPICC=$MPICC" >&2; exit 2; }
}

skip() {
  skipped=$((skipped + 1))
  echo "skipped  $1"
}

fail() {
  failed=$((failed + 1))
  echo "FAILED   $1"
}

# debian_source PACKAGE DIRECTORY PATTERN...
#   the files that match, of the package's original source, in a directory of their own
# Asks for source packages with a list and a state of its own: the machine's own configuration stays
# as it is.
debian_source() {
  local package=$1 directory=$WORK/src/$2 apt=$WORK/apt
  shift 2
  [ ! -e "$directory/.complete" ] || return 0
  if ! command -v apt-get >/dev/null || [ ! -r /etc/os-release ]; then
    echo "sources of $package come from Debian's archive, and this is not Debian"
    return 1
  fi
  local suite key=/usr/share/keyrings/debian-archive-keyring.gpg
  suite=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}")
  if [ -z "$suite" ]; then
    echo "sources of $package come from Debian's archive, and this is not Debian"
    return 1
  fi
  mkdir -p "$apt/lists/partial" "$apt/fetched/$package" "$directory"
  [ -r $key ] && key="[signed-by=$key] " || key=""
  echo "deb-src ${key}${CLIENTS_DEBIAN:-http://deb.debian.org/debian} $suite main" >"$apt/sources.list"
  local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
    -o APT::Sandbox::User=root)
  if [ ! -e "$apt/updated" ]; then
    apt-get "${options[@]}" update >"$LOGS/fetch.log" 2>&1 && touch "$apt/updated" ||
      { echo "the list of Debian's sources cannot be fetched: $(tail -1 "$LOGS/fetch.log")"; return 1; }
  fi
  (cd "$apt/fetched/$package" && apt-get "${options[@]}" source --download-only "$package") >"$LOGS/fetch.log" 2>&1 ||
    { echo "the sources of $package cannot be fetched: $(tail -1 "$LOGS/fetch.log")"; return 1; }
  local archive
  archive=$(ls "$apt/fetched/$package"/*.orig.tar.*[a-z0-9] | grep -v '\.asc$' | head -1)
  tar -xf "$archive" -C "$directory" --strip-components=1 --wildcards "$@" >"$LOGS/fetch.log" 2>&1 ||
    { echo "the sources of $package cannot be unpacked: $(tail -1 "$LOGS/fetch.log")"; return 1; }
  basename "$archive" | sed 's/\.orig.*//; s/_/ /' >"$directory/.complete"
}

# launch_native RANKS COMMAND...
# launch_preload RANKS COMMAND...
#   standard output and error go where the caller sends them
launch_native() {
  launch "$@"
}
launch_preload() {
  local ranks=$1
  shift
  case $MPI in
    openmpi) preloaded=$PRELOAD launch "$ranks" -x MPIX_PRELOAD=report "$@" ;;
    *) preloaded=$PRELOAD launch "$ranks" -genv MPIX_PRELOAD report "$@" ;;
  esac
}

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

# The run's own counter: calls that the preload took over, or nothing when it did not report.
calls_in() {
  sed -n 's/.*mpix-neighbor preload: \([0-9][0-9]*\) calls\{0,1\} taken over.*/\1/p' "$1" | awk '{ n += $1 } END { if (NR) print n }'
}

# one HOW RANKS COMMAND...
#   a run, natively or under the preload; leaves $log.HOW.out, $log.HOW.err, and the exit code in
#   $code
one() {
  local how=$1 ranks=$2 rank
  shift 2
  rm -f "$log.$how".err.*
  "launch_$how" "$ranks" "$PWD/clients/per-rank" "$log.$how.err" "$@" >"$log.$how.out" 2>"$log.$how.launch"
  code=$?
  for rank in $(seq 0 $((ranks - 1))); do cat "$log.$how.err.$rank" 2>/dev/null; done >"$log.$how.err"
  cat "$log.$how.launch" >>"$log.$how.err"
  rm -f "$log.$how.launch" "$log.$how".err.*
}

# pair NAME RANKS NEED JUDGE COMMAND...
#   runs the command natively and under the preload and says what came of it
#   NEED   calls: the preload must have taken over a call
#          topology: the program makes topologies but calls no neighborhood collective
#          none
#   JUDGE  a function that prints what failed, a line each, given the log's name without .out and
#          .err, the exit code and the ranks
pair() {
  local name="$SUITE: $1, $MPI_NAME, $2 ranks" ranks=$2 need=$3 judge=$4 code start times
  local log
  log=$LOGS/$(echo "$SUITE-$MPI-$1-$2" | tr -c 'A-Za-z0-9_\n-' _)
  [ "$2" -ne 1 ] || name="$SUITE: $1, $MPI_NAME, 1 rank"
  shift 4
  start=$(now)
  one native "$ranks" "$@"
  "$judge" "$log.native" "$code" "$ranks" | sort -u >"$log.native.failures"
  times="$(since "$start") s natively"
  if [ "${CLIENTS_PRELOAD:-}" = no ]; then
    if [ -s "$log.native.failures" ]; then
      known=$((known + 1))
      echo "native fails  $name ($times): $(summary_of "$log.native.failures")"
    else
      passed=$((passed + 1))
      echo "ok       $name ($times)"
    fi
    return
  fi
  start=$(now)
  one preload "$ranks" "$@"
  local calls wrong=""
  calls=$(calls_in "$log.preload.err")
  # the report is the preload's own: no part of what the program printed
  sed -i '/mpix-neighbor preload/d' "$log.preload.out"
  "$judge" "$log.preload" "$code" "$ranks" | sort -u >"$log.preload.failures"
  times="$times, $(since "$start") s under the preload"
  comm -13 "$log.native.failures" "$log.preload.failures" >"$log.new"
  if [ -s "$log.new" ]; then
    wrong=$(summary_of "$log.new")
  elif [ -z "$calls" ] && [ ! -s "$log.preload.failures" ]; then
    wrong="the preload reported nothing"
  elif [ "$need" = calls ] && [ "${calls:-0}" -eq 0 ]; then
    wrong="no call was taken over"
  fi
  taken=$((taken + ${calls:-0}))
  local count="${calls:-0} calls"
  [ "$need" != topology ] || count="$count: it only makes topologies"
  if [ -n "$wrong" ]; then
    failed=$((failed + 1))
    echo "FAILED   $name: $wrong ($times, $count)"
    head -n 25 "$log.preload.out" "$log.preload.err" | sed 's/^/    /'
  elif [ -s "$log.preload.failures" ]; then
    known=$((known + 1))
    echo "native fails too  $name: $(summary_of "$log.preload.failures") ($times, $count)"
  elif [ -s "$log.native.failures" ]; then
    mended=$((mended + 1))
    echo "native fails, preload passes  $name: natively $(summary_of "$log.native.failures") ($times, $count)"
  else
    passed=$((passed + 1))
    echo "ok       $name ($times, $count)"
  fi
}

summary_of() {
  local lines
  lines=$(wc -l <"$1")
  head -3 "$1" | paste -sd ';' | sed 's/;/; /g' | tr -d '\n'
  [ "$lines" -le 3 ] || printf '; and %d more' $((lines - 3))
}

# How a run ended, for judges: nothing when it ended well. A run that was killed because its time
# was over says so.
ended() {
  case $1 in
    0) ;;
    124 | 137) echo "it did not end within ${TEST_TIMEOUT:-120} s" ;;
    *) echo "exit code $1" ;;
  esac
}

# judge_same: the run ended well and printed what $REFERENCE holds, after $FILTER
judge_same() {
  ended "$2"
  diff <($FILTER <"$REFERENCE") <($FILTER <"$1.out") >"$1.diff" ||
    echo "its output differs from the expected one in $(grep -c '^[<>]' "$1.diff") lines"
}
