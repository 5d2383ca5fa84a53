# winnow: `make demo` shows it, `make test` tests it, `make check` is what CI runs.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 3s
CONSUMER = internal/testing/consumer
SITE = internal/testing/site
EXPERIMENTS = experiments

.PHONY: build dist install-check module demo test consumer experiments site check fmt vet lint race browser faults fuzz bench runtime pgserver clean golden pictures gpu-bundle gpu-rehearsal

# Without what debuggers read (-s -w) the program is a quarter smaller; LDFLAGS= keeps it. Stack traces have names and lines either way.
LDFLAGS ?= -s -w

build:
	$(GO) build -ldflags "$(LDFLAGS)" -o bin/winnow ./cmd/winnow

# Archives, npm packages and Python wheels to hand out, in dist/: for the host, and for every target whose C compiler is found
# (CC_linux_arm64=…; docs/install.md).
dist:
	GO="$(GO)" .ci/dist

# The host's packages in empty homes without a network, and make module on a copy. Without npm or Python it says that they are NOT tested; with CI=true
# that is an error.
install-check:
	GO="$(GO)" .ci/install

# Renames the Go module: make module MODULE=example.org/you/winnow
module:
	@GO="$(GO)" .ci/module "$(MODULE)"

runtime: build
	bin/winnow runtime install

demo: runtime
	bin/winnow quickstart --out demo

# costs runs go test, and prints the packages and tests that took the most processor time. The last line decodes and resizes
# without vector instructions, as other processors do, where the pixels are known. vet is make vet's.
TEST = $(GO) test -vet=off -timeout 30m

test: runtime consumer experiments site pgserver bin/costs
	GO="$(GO)" bin/costs -vet=off -timeout 30m ./...
	GODEBUG=cpu.avx2=off $(TEST) -run 'AsPIL|Decode|Transform|Photo|Scaled' ./backbone ./backbone/jfif

bin/costs: internal/testing/costs/main.go
	$(GO) build -o $@ ./internal/testing/costs

# PostgreSQL with pgvector for the tests, from npm. Without npm they say that pgvector is NOT tested; with CI=true that is an error.
pgserver:
	@for tool in npm node; do \
		if ! command -v $$tool >/dev/null; then \
			echo "make pgserver: SKIPPED, export --to postgres:// are NOT tested: no $$tool in PATH" >&2; \
			if [ "$$CI" = true ]; then exit 1; else exit 0; fi; \
		fi; \
	done; \
	cd internal/testing/pgvectortest && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error

# Modules of their own, which ./... does not see.
experiments: runtime
	cd $(EXPERIMENTS) && $(TEST) ./...

consumer:
	cd $(CONSUMER) && $(TEST) ./...

# The documentation as a static site with a search, site/index.html; its tests follow every link. They read pages outside
# of their module, which the cache of results does not watch.
site:
	cd $(SITE) && $(GO) run . -root "$(CURDIR)" -out "$(CURDIR)/site" && $(TEST) -count=1 ./...

check: fmt vet lint test race browser faults fuzz install-check

fmt:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags faults ./cmd/winnow ./backbone
	cd $(CONSUMER) && $(GO) vet ./...
	cd $(SITE) && $(GO) vet ./...
	cd $(EXPERIMENTS) && $(GO) vet ./...

lint:
	$(GO) run $(STATICCHECK) ./...
	cd $(CONSUMER) && $(GO) run $(STATICCHECK) ./...
	cd $(SITE) && $(GO) run $(STATICCHECK) ./...
	cd $(EXPERIMENTS) && $(GO) run $(STATICCHECK) ./...

# The race detector, which takes ten times as long, watches the packages that start goroutines or share state under a lock,
# and the commands that drive them; all else has one goroutine, and make test tests it.
race: runtime pgserver
	$(TEST) -race $$(grep -rlE --include='*.go' --exclude-dir=experiments '^[[:space:]]*go [a-z]|\.Go\(|"sync' . | grep -v _test.go | xargs -n1 dirname | sort -u)
	$(TEST) -race -run '^Test(DataCheck|Embed|Extract(Command|Interrupted|Damaged|Shards)|Finetuned?$$|Review|Studio|Reproduce$$|Search|Map$$|Report$$|Retrieve|ExportTo)' ./cmd/winnow

# The pages of winnow in a real Chromium: review, and those that are files. Without Chromium or npm it says that they are NOT tested; with CI=true that is an
# error.
browser: runtime site
	@for tool in npm node "chromium chromium-browser google-chrome google-chrome-stable"; do \
		found=; for name in $$tool; do command -v $$name >/dev/null && found=yes; done; \
		if [ -z "$$found" ]; then \
			echo "make browser: SKIPPED, the pages of winnow are NOT tested: none of $$tool in PATH" >&2; \
			if [ "$$CI" = true ]; then exit 1; else exit 0; fi; \
		fi; \
	done; \
	(cd report/review/browser && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error) && \
	WINNOW=bin/winnow node report/review/browser/test.mjs

# The pictures of the documentation, by a headless Chromium: of the quickstart, those that move too, and of MNIST's wrong labels where MNIST names the folder
# of its files. MNIST_MODEL is the network that looks at them, else one is trained, some ten minutes.
pictures: runtime
	$(GO) run ./internal/testing/pictures -winnow bin/winnow -mnist "$(MNIST)" -model "$(MNIST_MODEL)" -only "$(ONLY)"

# The golden values ($WINNOW_GOLDEN, else ../shared/golden, else the committed copy) through every package, and the table of what ran.
golden:
	@out=$$(mktemp); $(TEST) -count=1 -run Golden -v ./... >$$out 2>&1; code=$$?; \
	grep -E '^(--- FAIL|    --- FAIL|FAIL|panic)|has no check|is not known' $$out; \
	awk '/^golden cases/ {on = 1; next} /^all  / {on = 0; next} on {n += $$2; print} END {printf "golden cases in all: %d\n", n}' $$out; \
	rm -f $$out; exit $$code

# kill -9 at 50 random points of extract, train, fine-tuning, index and review; thousands of damaged images.
faults: runtime
	$(TEST) -count=1 -tags faults -run 'Killed|Damaged' ./cmd/winnow ./backbone

# Every fuzz target for a few seconds. Go's fuzzing may end with "context deadline exceeded" where the time is up amid an input: tried
# again; an input that fails is kept, and fails again.
fuzz: runtime
	@for pkg in $$(grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$($(TEST) -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f"; \
			for try in 1 2 3; do \
				out=$$($(TEST) -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg 2>&1) && break; \
				echo "$$out"; \
				case $$try$$out in 3*) exit 1;; *"context deadline exceeded"*) ;; *) exit 1;; esac; \
			done; \
		done; \
	done

# Everything that experiments/gpu needs on a machine with a GPU and without network, in parts: copy them there, then sh run.sh.
gpu-bundle:
	GO="$(GO)" sh experiments/gpu/bundle.sh gpu-bundle

# All parts of experiments/gpu with small networks on the CPU.
gpu-rehearsal: runtime
	$(GO) -C $(EXPERIMENTS) run ./gpu -device cpu -small -out ../gpu-rehearsal

bench: runtime
	$(GO) test -run '^$$' -bench . -benchtime 2s ./...

clean:
	rm -rf bin dist demo site gpu-bundle gpu-rehearsal gpu-results
