# shellcheck shell=bash
# Starting, looking at and ending the cluster as a whole. All its processes live in one process and mount namespace
# with lib/supervise as process 1: when that ends, the kernel ends the rest, the containers of the Pods among them,
# and with it goes every mount. So there is one process to know, and nothing to miss after a crash.

lock() { # until this program ends. The folder and not a file in it: this way nothing is left behind
  [ "$(id -u)" = 0 ] || die "not root"
  exec {LOCK}<"${RUN%/*}"
  flock -n "$LOCK" && return
  say "another cluster command is at work; waiting for it" >&2
  flock -w 900 "$LOCK" || die "the other command does not end"
}

since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.1f", b - a}'; }

boot_id() { cat /proc/sys/kernel/random/boot_id; }

# The process id alone says little: it may have been given to another process since, or after a reboot. Together
# with the time it was started at, and the boot that counts from, it is one process only.
alive() {
  local pid start boot stat rest
  [ -r "$RUN/init" ] && read -r pid start boot <"$RUN/init" || return 1
  [ "$boot" = "$(boot_id)" ] || return 1
  { read -r stat <"/proc/$pid/stat"; } 2>/dev/null || return 1
  read -r -a rest <<<"${stat##*) }"    # from the third field on; the second may have blanks in it
  [ "${rest[0]}" != Z ] && [ "${rest[19]}" = "$start" ] && INIT=$pid
}

same_owner() { # or nobody's: a repository that is gone does not keep others from the machine
  local owner
  owner=$(cat "$RUN/owner" 2>/dev/null) || return 0
  [ "$owner" = "$REPO" ] || [ ! -x "$owner/tests/cluster/cluster" ]
}

server() { sed -n 's/.*server: "\([^"]*\)".*/\1/p' "$RUN/publish/kubeconfig"; }

complaint() {
  if ! alive; then echo "it has ended"
  elif [ -f "$RUN/failed" ]; then cat "$RUN/failed"
  elif [ ! -f "$RUN/ready" ]; then echo "its start was not finished"
  elif [ "$(cat "$RUN/binary")" != "$BINARY" ]; then echo "it is of another build"
  elif [ "$(OUT=$RUN/publish kubectl --request-timeout=10s get node 127.0.0.1 -o "$NODE_READY" 2>&1)" != True ]; then echo "the node is not ready"
  fi
}
NODE_READY='jsonpath={.status.conditions[?(@.type=="Ready")].status}'

healthy() { [ -z "$(complaint)" ]; }

components() { # NAME, process id and memory of each
  local p name
  for p in $(pgrep -P "$INIT"); do
    name=$(tr '\0' '\n' 2>/dev/null <"/proc/$p/cmdline" | head -n 1) || continue
    case ${name##*/} in
      etcd | kube-* | containerd | kubelet) awk -v n="${name##*/}" -v p="$p" '/^VmRSS/ {printf "  %-24s process %-8d %4d MiB\n", n, p, $2 / 1024}' "/proc/$p/status" ;;
    esac
  done
}

prepare() {
  mkdir -p "$RUN/logs" "$RUN/bin"
  echo "$REPO" >"$RUN/owner"
  echo "$VERSION" >"$RUN/version"
  echo "$BINARY" >"$RUN/binary"
  local c
  for c in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do ln -s "$BINARY" "$RUN/bin/$c"; done
  choose_ports
  make_credentials
  write_settings
  take_from_machine
}

launch() {
  # A session of its own and nothing of ours open, or "make" would wait for the end of the cluster; and nothing of our
  # environment, least of all a proxy.
  setsid env -i PATH="$RUN/bin:$DEBIAN/usr/bin:$DEBIAN/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    HOME="$RUN" LC_ALL=C RUN="$RUN" IMAGES="$DEBIAN/images" HIDDEN="$HIDDEN" NODE_READY="$NODE_READY" \
    unshare --mount --pid --fork --kill-child /bin/bash "$HERE/lib/supervise" \
    </dev/null >"$RUN/logs/supervise.log" 2>&1 {LOCK}<&- &
}

await_ready() {
  local i
  for ((i = 0; i < 100; i++)); do [ ! -f "$RUN/init" ] || break; sleep 0.05; done
  while [ ! -f "$RUN/ready" ]; do
    [ ! -f "$RUN/failed" ] && alive || exit 1
    sleep 0.05
  done
}

fail_up() { # at an exit of "up" before its time
  trap - EXIT
  local part=supervise why=
  if [ -f "$RUN/failed" ]; then read -r part why <"$RUN/failed"
  elif [ -f "$RUN/init" ] && ! alive; then why="has ended"; fi
  if [ -z "$why" ]; then
    echo "cluster: the start was broken off; taking away what there is" >&2
  else
    echo "cluster: not up: $part $why" >&2
    [ ! -s "$RUN/logs/$part.log" ] || { echo "cluster: the last lines of its log:"; tail -n 15 "$RUN/logs/$part.log" | cut -c1-400; } >&2
    rm -rf "$OUT/failed"
    cp -r "$RUN/logs" "$OUT/failed" 2>/dev/null && echo "cluster: all logs are in $OUT/failed" >&2
  fi
  clean
  retract
  exit 1
}

# Ends what runs and takes away all that "up" has made; also after a crash, after a reboot, and when there is nothing.
clean() {
  [ -e "$RUN" ] || return 0
  local i m
  if alive; then
    kill -9 "$INIT"    # nothing in there needs a clean end
    for ((i = 0; i < 300; i++)); do alive || break; sleep 0.1; done
    ! alive || die "process $INIT does not end"
  fi
  give_back_to_machine
  # None is expected outside of the namespace; but what is below it must not be deleted by mistake.
  awk -v r="$RUN/" 'index($5, r) == 1 {print $5}' /proc/self/mountinfo | sort -r | while read -r m; do umount "$m"; done
  rm -rf --one-file-system "$RUN"
}
