# shellcheck shell=bash
# What the node needs from the machine (ports, a bridge, cgroups, sysctls), and how all of it is given back.

BRIDGE=workload0
SUBNET=10.244.0.0/24
CGROUP=workload-cluster
# The kubelet and containerd write here whatever they are told; the cluster sees folders of its own in their place.
HIDDEN="/run/containerd /var/lib/cni /var/lib/kubelet /var/log/containers"

# Ports that nobody listens on: below the ports that the kernel hands out for connections (32768 on) and below
# those of Services of type NodePort (30000 on), so that none is taken between now and the start.
choose_ports() {
  local name port taken=" "
  : >"$RUN/ports"
  for name in ETCD_PORT ETCD_PEER_PORT APISERVER_PORT KUBELET_PORT; do
    while :; do
      port=$((20000 + RANDOM % 10000))
      [[ $taken == *" $port "* ]] || [ -n "$(ss -Htan "sport = :$port")" ] || break
    done
    taken+="$port "
    echo "$name=$port" >>"$RUN/ports"
  done
  # shellcheck source=/dev/null
  . "$RUN/ports"
}

write_settings() {
  mkdir -p "$RUN/cni" "$RUN/containerd" "$RUN/kubelet" "$RUN/podlogs"
  # No masquerading and no firewall rule: Pods talk to one another and to this machine, and to nobody else.
  cat >"$RUN/cni/10-bridge.conflist" <<J
{"cniVersion": "0.4.0", "name": "workload-cluster", "plugins": [
  {"type": "bridge", "bridge": "$BRIDGE", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$SUBNET"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$RUN/cni/addresses"}}]}
J
  # restrict_oom_score_adj: without CAP_SYS_RESOURCE, as in many containers, the score cannot be lowered.
  cat >"$RUN/containerd/config.toml" <<T
version = 2
root = "$RUN/containerd/root"
state = "$RUN/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "$RUN/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$RUN/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$DEBIAN/usr/lib/cni"
    conf_dir = "$RUN/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
T
  # evictionHard, imageGC*: a full disk is the machine's affair; evicting Pods, or taking away images that no
  # registry has, would only make tests fail. KubeletInUserNamespace: go on where a sysctl may not be written.
  # clusterDNS: nobody answers there, but without it every Pod gets a warning among its events.
  cat >"$RUN/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: $KUBELET_PORT
readOnlyPort: 0
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $PKI/kubelet.crt
tlsPrivateKeyFile: $PKI/kubelet.key
containerRuntimeEndpoint: unix://$RUN/containerd/containerd.sock
podLogsDir: $RUN/podlogs
volumePluginDir: $RUN/kubelet/volume-plugins
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
evictionHard: {memory.available: "1%", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
featureGates: {KubeletInUserNamespace: true}
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
Y
}

take_from_machine() {
  local d
  [ -z "$(ip -4 route show root $SUBNET)" ] || die "the network $SUBNET is in use on this machine, and the Pods need it"
  save_sysctls
  : >"$RUN/made"
  for d in $HIDDEN; do
    mkdir -p "$RUN/hidden$d"
    [ -d "$d" ] || { echo "$d" >>"$RUN/made"; (umask 022 && mkdir "$d"); }
  done
  make_cgroups
}

give_back_to_machine() {
  local i d
  # The network of a Pod goes with its last process, a moment later; its end on the bridge goes with it.
  if [ -d "/sys/class/net/$BRIDGE" ]; then
    for ((i = 0; i < 100; i++)); do [ -n "$(ip -br link show master $BRIDGE)" ] || break; sleep 0.1; done
    ip link del $BRIDGE
  fi
  remove_cgroups
  restore_sysctls
  [ ! -f "$RUN/made" ] || while read -r d; do rmdir "$d" 2>/dev/null || true; done <"$RUN/made"
}

# Version 1: a folder for each controller. Version 2: one for all, and the mixed layout counts as version 1.
cgroup_hierarchies() {
  awk '($3 == "cgroup" && $2 ~ "^/sys/fs/cgroup/") || ($3 == "cgroup2" && $2 == "/sys/fs/cgroup") {print $2}' /proc/self/mounts
}

# A root of our own for the kubelet's cgroups: its default is the one of every other kubelet as well.
make_cgroups() {
  local h c f
  for h in $(cgroup_hierarchies); do
    mkdir "$h/$CGROUP"
    if [ -f "$h/cgroup.controllers" ]; then
      for c in $(cat "$h/cgroup.controllers"); do
        if ! grep -qw "$c" "$h/cgroup.subtree_control" && echo "+$c" 2>/dev/null >"$h/cgroup.subtree_control"; then
          echo "$c" >>"$RUN/controllers"
        fi
        echo "+$c" 2>/dev/null >"$h/$CGROUP/cgroup.subtree_control" || true
      done
    elif [ -f "$h/cpuset.cpus" ]; then
      for f in cpuset.cpus cpuset.mems; do cat "$h/$f" >"$h/$CGROUP/$f"; done    # born empty, which lets nothing run
    fi
  done
}

remove_cgroups() {
  local c p i
  for c in "/sys/fs/cgroup/$CGROUP" /sys/fs/cgroup/*/"$CGROUP"; do
    [ -d "$c" ] && [ ! -L "${c%/*}" ] || continue
    for ((i = 0; i < 50; i++)); do    # the kernel lets go of a cgroup some time after its last process
      # Whatever is in there is of this cluster: nobody else makes a cgroup of this name.
      for p in $(find "$c" -name cgroup.procs -exec cat {} + 2>/dev/null); do [ "$p" = 0 ] || kill -9 "$p" 2>/dev/null || true; done
      find "$c" -depth -type d -exec rmdir {} + 2>/dev/null || true
      [ -d "$c" ] || break
      sleep 0.1
    done
    [ ! -d "$c" ] || say "cannot remove $c" >&2
  done
  [ ! -f "$RUN/controllers" ] || while read -r c; do echo "-$c" 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control || true; done <"$RUN/controllers"
}

# What the kubelet and the bridge plugin change. Forwarding comes first: writing it resets the others below it.
save_sysctls() {
  {
    sysctl -e net.ipv4.ip_forward
    sysctl -e -a -r '^net\.ipv4\.conf\..*\.(forwarding|accept_redirects|route_localnet)$'
    sysctl -e vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes
  } >"$RUN/sysctls" 2>/dev/null || true
  boot_id >"$RUN/boot"
}

restore_sysctls() {
  local key value
  [ -f "$RUN/boot" ] && [ "$(cat "$RUN/boot")" = "$(boot_id)" ] || return 0    # a reboot has reset them
  while IFS='= ' read -r key value; do
    [ "$(sysctl -e -n "$key" 2>/dev/null)" = "$value" ] || sysctl -e -q -w "$key=$value" >/dev/null 2>&1 || true
  done <"$RUN/sysctls"
}
