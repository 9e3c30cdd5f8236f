# What a person types. Everything a fresh machine lacks is installed by these targets; only rustup, a C toolchain
# and, for the real cluster, Go and root must be there.
.DEFAULT_GOAL := build
.PHONY: build components release demo test bench lint fmt cluster cluster-down clean toolchain

WASM := wasm32-unknown-unknown
COMPONENTS := target/components
BUILT := target/$(WASM)/component

# The released command: target/release/workload, with the Kubernetes provider inside.
build: components
	cargo build --release --locked -p workload

# The toolchain of rust-toolchain.toml with its wasm target; rustup does nothing when it is there.
toolchain:
	@rustup target list --installed | grep -q '^$(WASM)$$' || rustup target add $(WASM)

# Providers are built before what embeds them; cp only what changed, so that nothing is built again for nothing.
components: toolchain
	cargo build --locked --profile component --target $(WASM) -p workload-kubernetes
	cargo build --locked --profile component --target $(WASM) -p workload-guest --examples
	cargo build --locked --profile component --target $(WASM) -p workload-hostile --examples
	@mkdir -p $(COMPONENTS)
	@put() { cmp -s "$$1" "$$2" || cp "$$1" "$$2"; }; \
	put $(BUILT)/workload_kubernetes.wasm $(COMPONENTS)/kubernetes.wasm; \
	put $(BUILT)/examples/glance.wasm $(COMPONENTS)/glance.wasm; \
	for f in $(BUILT)/examples/hostile_*.wasm; do \
	  case $$f in *-????????????????.wasm) continue;; esac; \
	  n=$$(basename $$f | tr _ -); put $$f $(COMPONENTS)/$$n; done

# What is released, and the demo, built together: apart they would need some parts with other features.
release: components
	cargo build --release --locked -p workload -p workload-demo

# The life of a workload, on an emulated Kubernetes. With KUBECONFIG set: on that cluster, after asking. With CLUSTER=real:
# on the one that `make cluster` starts.
demo: release
ifeq ($(CLUSTER),real)
	@up=$$(tests/cluster/cluster status >/dev/null 2>&1 && echo was); \
	trap '[ -n "$$up" ] || tests/cluster/cluster down' EXIT; trap 'exit 130' INT TERM; \
	$(MAKE) --no-print-directory cluster || exit 1; \
	KUBECONFIG=target/cluster/kubeconfig target/release/workload-demo --yes --image localhost/busybox:1 --pull-policy Never
else ifeq ($(CLUSTER),)
	@target/release/workload-demo
else
	$(error CLUSTER=$(CLUSTER): the only one is CLUSTER=real)
endif

# Every test; says at the end how many ran, and which were left out and why.
test:
	@tests/run

# Every figure the README quotes, as ratios in one run. Passes and fails nothing.
bench: components
	cargo build --release --locked -p workload-bench
	@target/release/workload-bench

# Formatting, clippy and rustdoc with warnings as errors, shell scripts, licences and bans.
lint: components
	@rustup --quiet component add clippy rustfmt
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --target $(WASM) -p workload-kubernetes -p workload-guest -p workload-hostile --lib --examples -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
	@tests/tools shellcheck
	shellcheck .ci/run tests/run tests/tools tests/cluster/cluster tests/cluster/selftest tests/cluster/genmod tests/cluster/lib/*
	@tests/tools deny
	PATH="$$PWD/target/tools/bin:$$PATH" cargo deny --all-features check --hide-inclusion-graph licenses bans sources

fmt:
	cargo fmt --all

# A real Kubernetes on this machine; its kubeconfig is target/cluster/kubeconfig.
cluster:
	tests/cluster/cluster build
	tests/cluster/cluster up

cluster-down:
	tests/cluster/cluster down

clean: cluster-down
	cargo clean
