# shellcheck shell=bash
# Kubernetes and etcd, built from their Go modules into one program: target/cluster/k8s-<hash>.

VERSION=$(sed -n 's/^require k8s.io\/kubernetes //p' "$HERE/go.mod")
# Named after what it is made of, so that it is built when that changes and only then. This file is among it for
# the flags below.
BINARY=$OUT/k8s-$(cd "$HERE" && cat go.mod go.sum main.go lib/binary.sh | sha256sum | cut -c1-16)

check_go() {
  local go
  [ ! -x "$BINARY" ] || return 0    # the compiler has done its part
  if ! go=$(command -v go); then no "no Go: it builds Kubernetes (see go.dev/doc/install)"; return; fi
  go=$(cd / && GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null) || go=unknown
  # From 1.21 on, Go fetches the version that go.mod asks for by itself.
  [[ $go =~ ^go1\.(2[1-9]|[3-9][0-9]) ]] || no "Go is too old ($go): 1.21 or later is needed"
}

build_binary() {
  if [ -x "$BINARY" ]; then return; fi
  local lock
  make_out
  exec {lock}<"$OUT"
  flock "$lock"                     # two builds at once: the second waits and finds it done
  if [ -x "$BINARY" ]; then return; fi
  local began=$SECONDS minor=${VERSION#v1.} stamp="" p
  minor=${minor%%.*}
  # Without a version, kubectl and the servers take one another for v0.0.0 and refuse to talk.
  for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamp+=" -X $p.gitVersion=$VERSION -X $p.gitMajor=1 -X $p.gitMinor=$minor -X $p.gitTreeState=clean"
    stamp+=" -X $p.gitCommit=0000000000000000000000000000000000000000 -X $p.buildDate=2026-01-01T00:00:00Z"
  done
  go_home
  say "building Kubernetes $VERSION from its Go modules: about 7 minutes the first time, seconds later on"
  rm -f "$BINARY.part"
  ( # GOGC: the compiler spends a tenth of the time less on its garbage, for 2.4 GiB at most with two processors
    cd "$HERE" || exit
    umask 022
    CGO_ENABLED=0 GOWORK=off GOFLAGS="-mod=readonly -buildvcs=false" GOGC=400 \
      exec go build -trimpath -ldflags "-s -w$stamp" -o "$BINARY.part" . {lock}>&-
  ) >"$OUT/build.log" 2>&1 </dev/null &
  local job=$! next=60
  # shellcheck disable=SC2064  # the process as it is now
  trap "kill $job 2>/dev/null; exit 130" INT TERM
  while kill -0 $job 2>/dev/null; do
    sleep 0.5
    if [ $((SECONDS - began)) -ge $next ]; then say "still building after $((next / 60)) min"; next=$((next + 60)); fi
  done
  trap - INT TERM
  if ! wait $job; then
    tail -n 20 "$OUT/build.log" >&2
    rm -f "$BINARY.part"
    die "Kubernetes does not build; the whole log is $OUT/build.log"
  fi
  find "$OUT" -maxdepth 1 -name 'k8s-*' ! -name "$(basename "$BINARY").part" -delete
  mv "$BINARY.part" "$BINARY"
  exec {lock}<&-
  say "built in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s: $BINARY"
}

# Go wants a home for its caches; a service or a container may not say where, or have none.
go_home() {
  export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
  if [ ! -w "${HOME:-/none}" ]; then HOME=$OUT/home; mkdir -p "$HOME"; fi
}

# The output folder; cargo makes the same one, so it belongs to whoever owns the repository.
make_out() {
  [ -d "$OUT" ] && return
  (umask 022 && mkdir -p "$OUT")
  chown --reference="$REPO" "$REPO/target" "$OUT" 2>/dev/null || true
}

kubectl() { # as the administrator; with no cache and no preferences in anybody's home, and past every proxy
  env -u HTTPS_PROXY -u HTTP_PROXY -u https_proxy -u http_proxy -u ALL_PROXY -u all_proxy KUBECTL_KUBERC=false \
    KUBECACHEDIR="$RUN/kubectl" "$BINARY" kubectl --kubeconfig "$OUT/kubeconfig" "$@"
}
