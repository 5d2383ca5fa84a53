# winnow: `make demo` shows it, `make test` tests it, `make check` is what CI runs.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 3s

.PHONY: build demo test check fmt vet lint race fuzz bench runtime clean golden

build:
	$(GO) build -o bin/winnow ./cmd/winnow

runtime: build
	bin/winnow runtime install

demo: runtime
	bin/winnow demo --out demo

test: runtime
	$(GO) test ./...

check: fmt vet lint race fuzz

fmt:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi

vet:
	$(GO) vet ./...

lint:
	$(GO) run $(STATICCHECK) ./...

race: runtime
	$(GO) test -race -timeout 20m ./...

# The golden values ($WINNOW_GOLDEN, else ../shared/golden) through every package, and the table of what ran.
golden:
	@out=$$(mktemp); $(GO) test -count=1 -run Golden -v ./... >$$out 2>&1; code=$$?; \
	grep -E '^(--- FAIL|    --- FAIL|FAIL|panic)|has no check|is not known' $$out; \
	awk '/^golden cases/ {on = 1; next} /^all  / {on = 0; next} on {n += $$2; print} END {printf "golden cases in all: %d\n", n}' $$out; \
	rm -f $$out; exit $$code

# Every fuzz target for a few seconds.
fuzz: runtime
	@for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg || exit 1; \
		done; \
	done

bench: runtime
	$(GO) test -run '^$$' -bench . -benchtime 2s ./...

clean:
	rm -rf bin demo
