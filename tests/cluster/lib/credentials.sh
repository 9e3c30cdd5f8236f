# shellcheck shell=bash
# Certificates and kubeconfigs. Everything is made anew for each cluster, and what leaves the state folder (publish)
# is readable by its owner only.

PKI=$RUN/pki
PUBLISHED="ca.crt kubeconfig kubeconfig-token kubeconfig-nobody token"

ssl() { openssl "$@" 2>>"$RUN/logs/openssl.log"; }

make_credentials() {
  local admin nobody u
  mkdir -p "$PKI" "$RUN/publish"
  authority ca
  authority etcd-ca                 # of its own: whoever gets a client certificate from Kubernetes shall not reach etcd
  new_key sa && ssl pkey -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub"
  certificate apiserver ca /CN=kube-apiserver serverAuth \
    "IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  certificate kubelet ca /O=system:nodes/CN=system:node:127.0.0.1 serverAuth "IP:127.0.0.1,DNS:localhost"
  certificate etcd etcd-ca /CN=etcd serverAuth,clientAuth "IP:127.0.0.1"
  certificate apiserver-etcd etcd-ca /CN=kube-apiserver clientAuth
  certificate apiserver-kubelet ca /CN=kube-apiserver-kubelet-client/O=system:masters clientAuth
  certificate front-proxy ca /CN=front-proxy-client clientAuth
  certificate admin ca /O=system:masters/CN=admin clientAuth
  certificate kube-controller-manager ca /CN=system:kube-controller-manager clientAuth
  certificate kube-scheduler ca /CN=system:kube-scheduler clientAuth
  certificate node ca /O=system:nodes/CN=system:node:127.0.0.1 clientAuth

  admin=$(openssl rand -hex 32)
  nobody=$(openssl rand -hex 32)
  printf '%s\n' "$admin,admin-by-token,admin-by-token,system:masters" "$nobody,nobody,nobody" >"$PKI/tokens.csv"
  for u in kube-controller-manager kube-scheduler node admin; do
    kubeconfig "$u" "client-certificate-data: $(b64 "$PKI/$u.crt"), client-key-data: $(b64 "$PKI/$u.key")" >"$PKI/$u.kubeconfig"
  done
  cp "$PKI/admin.kubeconfig" "$RUN/publish/kubeconfig"
  kubeconfig admin-by-token "token: $admin" >"$RUN/publish/kubeconfig-token"
  kubeconfig nobody "token: $nobody" >"$RUN/publish/kubeconfig-nobody"
  echo "$admin" >"$RUN/publish/token"
  cp "$PKI/ca.crt" "$RUN/publish/ca.crt"
}

# genpkey writes PKCS#8, which every TLS library reads; the older EC format is not for all of them.
new_key() { ssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$PKI/$1.key"; }

authority() { # NAME
  new_key "$1"
  ssl req -x509 -new -key "$PKI/$1.key" -subj "/CN=workload-cluster-$1" -days 365 -out "$PKI/$1.crt" \
    -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature
}

certificate() { # NAME AUTHORITY SUBJECT USAGE [ALTERNATIVE-NAMES]
  local n=$PKI/$1 ca=$PKI/$2
  new_key "$1"
  printf '%s\n' basicConstraints=CA:FALSE keyUsage=digitalSignature "extendedKeyUsage=$4" ${5:+"subjectAltName=$5"} >"$n.ext"
  ssl req -new -key "$n.key" -subj "$3" -out "$n.csr"
  ssl x509 -req -in "$n.csr" -CA "$ca.crt" -CAkey "$ca.key" -CAcreateserial -days 365 -extfile "$n.ext" -out "$n.crt"
  rm "$n.csr" "$n.ext"
}

b64() { base64 -w0 "$1"; }

kubeconfig() { # USER FIELDS-OF-THE-USER: one file that needs no other
  cat <<K
apiVersion: v1
kind: Config
current-context: workload-cluster
clusters:
- {name: workload-cluster, cluster: {server: "https://127.0.0.1:$APISERVER_PORT", certificate-authority-data: $(b64 "$PKI/ca.crt")}}
users:
- {name: $1, user: {$2}}
contexts:
- {name: workload-cluster, context: {cluster: workload-cluster, user: $1}}
K
}

# Writes what the tests read into target/cluster; again and again, since "cargo clean" takes it away.
publish() {
  local f
  make_out
  for f in $PUBLISHED; do
    cmp -s "$RUN/publish/$f" "$OUT/$f" && continue
    install -m 600 "$RUN/publish/$f" "$OUT/.$f"
    chown --reference="$REPO" "$OUT/.$f" 2>/dev/null || true    # with sudo: for whoever runs the tests
    mv "$OUT/.$f" "$OUT/$f"
  done
}

retract() {
  local f
  for f in $PUBLISHED; do rm -f "$OUT/$f"; done
}
