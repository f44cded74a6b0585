# Every task of this repository. A bare `make` lists them; a target is listed by its `##` comment.
# Needs Rust 1.95, a C compiler and make; `make test` says what else it could use.

CARGO ?= cargo
# In CI the lock file must not move.
LOCKED = $$(test "$$CI" = true && echo --locked)
# What `make ci` runs as tests. `.ci/run` has run them already and empties it.
TESTS = test
# Two minutes of faults and two of fuzzing.
CAMPAIGNS = faults-ci fuzz-ci

.NOTPARALLEL:
.PHONY: help run dev test ci fix bench screenshots fmt clippy doc deny prose release faults fuzz \
	faults-ci fuzz-ci snapshots tree

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: ## Build the release binary and start the server, no configuration needed
	$(CARGO) build --release --bin countersign
	@exec "$${CARGO_TARGET_DIR:-target}/release/countersign" serve

dev: ## Start the server with fixed credentials, on loopback only
	$(CARGO) build --bin countersign
	@exec "$${CARGO_TARGET_DIR:-target}/debug/countersign" serve --dev

test: ## Run every test; says what is skipped, and with CI=true skips nothing
	@sh .ci/test

ci: export INSTA_UPDATE = no
ci: fmt clippy doc deny prose $(TESTS) snapshots $(CAMPAIGNS) tree ## Everything CI checks; changes nothing

fix: ## Format and apply clippy's suggestions; snapshots are left for you to review
	$(CARGO) fmt --all
	$(CARGO) clippy --workspace --all-targets --fix --allow-dirty --allow-staged
	@sh .ci/snapshots pending

bench: ## Measure against the bare baseline (SCENARIO=create for one, QUICK=1 for a minute of it)
	$(CARGO) build --release -p countersign-bench -p countersign-server --bins
	@ulimit -n "$$(ulimit -Hn)"; exec "$${CARGO_TARGET_DIR:-target}/release/countersign-bench" \
		$(if $(QUICK),--quick) $(SCENARIO)

screenshots: ## Make the pictures of the documentation anew
	$(CARGO) build --bin countersign
	@sh .ci/browser install "$${CARGO_TARGET_DIR:-target}"
	@sh .ci/browser shots "$${CARGO_TARGET_DIR:-target}"

fmt: ## Check the formatting
	$(CARGO) fmt --all --check

clippy: ## Check the lints
	$(CARGO) clippy $(LOCKED) --workspace --all-targets -- -D warnings

doc: ## Build the documentation without a warning
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --no-deps

deny: ## Check licences, bans, sources and advisories (ADVISORIES=required fails without their database)
	@ADVISORIES=$(ADVISORIES) sh .ci/deny "$${CARGO_TARGET_DIR:-target}"

prose: ## Check the wording of docs, pages, help, logs and errors (.ci/prose has the words)
	@python3 -B .ci/prose --self-test
	@python3 -B .ci/prose

release: ADVISORIES = required
release: deny ## Build the release binary, after every dependency passed the advisory database
	$(CARGO) build --locked --release --bin countersign

faults: ## Check durability under faults (TIME=60 seconds per backend, BACKEND=sqlite, SEED=1, FAULTS=kill,power-loss)
	@TIME=$(TIME) BACKEND=$(BACKEND) SEED=$(SEED) FAULTS=$(FAULTS) \
		sh .ci/faults run "$${CARGO_TARGET_DIR:-target}"

fuzz: ## Fuzz every reader of foreign bytes (TIME=60 seconds each, TARGET=hitl for one)
	@TIME=$(TIME) fuzz/run $(TARGET)

# Two minutes of faults and two minutes of fuzzing; `make faults` and `make fuzz` run for as long as wanted.
faults-ci:
	@sh .ci/faults ci "$${CARGO_TARGET_DIR:-target}"

fuzz-ci:
	@TIME=5 fuzz/run

snapshots: ## Check that the last test run left no snapshot pending and used every one there is
	@sh .ci/snapshots check

tree: ## Check that nothing was changed or left behind
	@git diff --exit-code
	@left=$$(git ls-files --others --exclude-standard); \
	if [ -n "$$left" ]; then printf 'not under version control:\n%s\n' "$$left"; exit 1; fi
