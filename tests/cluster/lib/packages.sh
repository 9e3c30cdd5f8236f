# shellcheck shell=bash
# What comes from Debian: a few tools, which are installed when they are missing, and containerd with its friends.

# Tools of the system: a command, and the package that has it.
TOOLS="curl:curl ip:iproute2 ss:iproute2 openssl:openssl sysctl:procps pgrep:procps flock:util-linux unshare:util-linux"
# These are unpacked into target/cluster/debian and not installed: an installed containerd starts a service, and
# would have apt remove the one that came with Docker. What is used here is never seen by the rest of the system.
UNPACKED="containerd runc containernetworking-plugins busybox-static"
DEBIAN=$OUT/debian
# Says that all of it is there, and made by this version of this file.
COMPLETE=$DEBIAN/complete-$(sha256sum <"$HERE/lib/packages.sh" | cut -c1-16)

missing_tools() {
  local t
  for t in $TOOLS; do command -v "${t%%:*}" >/dev/null || echo "${t#*:}"; done | sort -u
}

check_packages() {
  local tools
  tools=$(missing_tools)
  if [ -z "$tools" ] && [ -e "$COMPLETE" ]; then return; fi
  if ! command -v apt-get >/dev/null; then no "no apt-get to fetch ${tools//$'\n'/, }${tools:+, }${UNPACKED// /, }"; fi
}

build_packages() {
  local tools lock began=$SECONDS
  tools=$(missing_tools)
  if [ -z "$tools" ] && [ -e "$COMPLETE" ]; then return; fi
  make_out
  exec {lock}<"$OUT"
  flock "$lock"
  say "fetching from Debian: ${tools//$'\n'/ }${tools:+ }$UNPACKED"
  if ! (fetch_packages "$tools") >"$OUT/packages.log" 2>&1 </dev/null {lock}<&-; then
    tail -n 20 "$OUT/packages.log" >&2
    die "packages cannot be fetched; the whole log is $OUT/packages.log"
  fi
  exec {lock}<&-
  say "fetched in $((SECONDS - began)) s"
}

fetch_packages() { # TOOLS. In a condition, set -e is off: each step has its own "or return"
  local p
  umask 022
  export DEBIAN_FRONTEND=noninteractive
  if [ "$(id -u)" = 0 ]; then apt-get update || return; fi
  if [ -n "$1" ]; then
    # shellcheck disable=SC2086  # a list of words
    apt-get install -y --no-install-recommends --no-remove $1 || return
  fi
  [ ! -e "$COMPLETE" ] || return 0
  rm -rf "$DEBIAN" || return
  mkdir -p "$DEBIAN/packages" || return
  # shellcheck disable=SC2086  # a list of words; not as apt's own user, who may not write here
  (cd "$DEBIAN/packages" && apt-get -o APT::Sandbox::User="$(id -un)" download $UNPACKED) || return
  for p in "$DEBIAN"/packages/*.deb; do dpkg-deb -x "$p" "$DEBIAN" || return; done
  rm -r "$DEBIAN/packages" || return
  make_images || return
  touch "$COMPLETE"
}

# Two container images, made without any registry, as Docker archives. Pods that name them say imagePullPolicy Never
# or IfNotPresent, and the tag is not "latest", for which the default would be Always.
#   localhost/busybox:1   Debian's static busybox, all its commands, and a page to serve in /www
#   localhost/pause:1     holds the namespaces of a Pod: the same busybox, waiting
make_images() {
  local root=$DEBIAN/images/root a
  mkdir -p "$root"/{bin,etc,tmp,root,www,var/run} || return
  find "$root" -type d -exec chmod 755 {} + && chmod 1777 "$root/tmp" || return
  cp "$DEBIAN/bin/busybox" "$root/bin/busybox" 2>/dev/null || cp "$DEBIAN/usr/bin/busybox" "$root/bin/busybox" || return
  for a in $("$root/bin/busybox" --list); do [ "$a" = busybox ] || ln -sf busybox "$root/bin/$a" || return; done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  echo hello-from-pod >"$root/www/index.html"
  chmod 644 "$root"/etc/* "$root/www/index.html" && chmod 755 "$root/bin/busybox" || return
  archive busybox "$root" null '["sh"]' || return
  # A shell as process 1 ends on SIGTERM only with a trap, and takes in what a shared process namespace leaves.
  archive pause "$root" '["sh","-c","trap \"exit 0\" TERM INT; while :; do sleep 86400 & wait $!; done"]' null || return
  rm -r "$root"
}

archive() { # NAME ROOT ENTRYPOINT COMMAND, the last two as JSON
  local w=$DEBIAN/images/$1 digest
  mkdir "$w" || return
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$2" -cf "$w/layer.tar" . || return
  digest=$(sha256sum "$w/layer.tar" | cut -d' ' -f1)
  cat >"$w/config.json" <<J
{"architecture":"$(dpkg --print-architecture)","os":"linux","created":"1970-01-01T00:00:00Z",
 "config":{"Env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],"Entrypoint":$3,"Cmd":$4},
 "rootfs":{"type":"layers","diff_ids":["sha256:$digest"]},"history":[{"created":"1970-01-01T00:00:00Z"}]}
J
  echo "[{\"Config\":\"config.json\",\"RepoTags\":[\"localhost/$1:1\"],\"Layers\":[\"layer.tar\"]}]" >"$w/manifest.json"
  tar -C "$w" -cf "$w.tar" manifest.json config.json layer.tar || return
  rm -r "$w"
}
