# For scripts: programs on hosts that scripts/hosts makes. Sourced, not run, after scripts/mpi.sh.

# skip WHY: says that there are no hosts here, and ends the script
skip() { echo "skipped: programs on several hosts: $1"; exit 0; }

# open_hosts N [RATE]: makes N hosts, their links held to RATE, until the script ends. Sets $family
# to the MPI's. What programs keep is in a directory of its own, $HOSTS_TMP.
open_hosts() {
  local version tool
  [ "$(id -u)" -eq 0 ] || skip "making network namespaces takes root"
  for tool in ip unshare hostname; do command -v $tool >/dev/null || skip "there is no $tool"; done
  version=$("$MPIRUN" --version 2>&1)
  case $version in
    *"Open MPI) 4"* | *"OpenRTE) 4"*) family=openmpi ;;
    *[Hh][Yy][Dd][Rr][Aa]*) family=mpich ;;
    *) skip "how this MPI is started on hosts of its own is not known here" ;;
  esac
  hosts=$1 pass=()
  HOSTS_NAME=m$(($$ % 1000000))h HOSTS_NET=198.$((18 + $$ % 2)).$(($$ / 2 % 250)) HOSTS_TMP=$(mktemp -d)
  export HOSTS_NAME HOSTS_NET HOSTS_TMP XDG_CONFIG_HOME=$HOSTS_TMP/config XDG_CACHE_HOME=$HOSTS_TMP/cache
  trap close_hosts EXIT
  trap 'exit 1' INT TERM
  scripts/hosts up "$@" >"$HOSTS_TMP/up" 2>&1 || skip "$(tail -1 "$HOSTS_TMP/up")"
  scripts/hosts-agent "$HOSTS_NET.1" true >"$HOSTS_TMP/up" 2>&1 || skip "$(tail -1 "$HOSTS_TMP/up")"
}

close_hosts() {
  scripts/hosts down "$hosts" >/dev/null 2>&1
  rm -rf "$HOSTS_TMP"
}

# on_hosts PROCESSES,PROCESSES,... PROGRAM...: so many processes on the first host, on the second
# one, ...
on_hosts() {
  local counts=${1//,/ } list="" all=0 i=0 count
  shift
  for count in $counts; do
    i=$((i + 1)) all=$((all + count)) list="$list,$HOSTS_NET.$i:$count"
  done
  if [ $family = openmpi ]; then
    timeout "${TEST_TIMEOUT:-30}" "$MPIRUN" -n $all --host "${list#,}" --mca plm_rsh_agent "$PWD/scripts/hosts-agent" \
      --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include "$HOSTS_NET.0/24" --mca btl_tcp_if_include "$HOSTS_NET.0/24" --mca pml ob1 \
      --mca btl self,vader,tcp --mca mpi_yield_when_idle 1 "${pass[@]}" "$@" </dev/null
  else
    # UCX takes shared memory even between hosts, unless it is told not to
    timeout "${TEST_TIMEOUT:-30}" "$MPIRUN" -launcher ssh -launcher-exec "$PWD/scripts/hosts-agent" -iface "${HOSTS_NAME}b" \
      -localhost "$HOSTS_NET.254" -hosts "${list#,}" -n $all -genv UCX_TLS tcp,self "${pass[@]}" "$@" </dev/null
  fi
}

# setting NAME=VALUE...: variables for the processes of on_hosts
setting() {
  local s
  pass=()
  for s in "$@"; do
    if [ $family = openmpi ]; then pass+=(-x "$s"); else pass+=(-genv "${s%%=*}" "${s#*=}"); fi
  done
}
