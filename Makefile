# SPDX-License-Identifier: MIT
# GNU make. `make help` lists the targets.

CC      ?= cc
# Programs with sanitizers compile in half the time with -O1.
CFLAGS  ?= $(if $(SAN),-O1,-O2) -g
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
libdir      ?= $(prefix)/lib
includedir  ?= $(prefix)/include
pkgdatadir  := $(datadir)/sampl
VERSION     := $(shell sed -n 's/^.define SAMPL_VERSION *"\([0-9.]*\)".*/\1/p' src/base/version.h)
# Targets remove folders that are named after the version: it must be one word.
ifneq ($(words $(VERSION)),1)
$(error src/base/version.h: SAMPL_VERSION is not a version such as "0.3.0")
endif
INSTALL     ?= install
PKG_CONFIG  ?= pkg-config

# SAN=address,undefined builds with sanitizers in a folder of its own.
SAN    ?=
# PORTABLE=1 builds with POSIX functions only, as on a system that base/platform.c has no code for.
PORTABLE ?=
# STATIC=1 builds a static program with musl's C library, and cJSON from its source package.
STATIC ?=
# SYSTEM=aarch64-macos builds for another system with Zig's C compiler, which has the headers; see check-systems.
SYSTEM ?=
# The program for Windows; see the target windows.
WINDOWS := $(findstring -windows-,$(SYSTEM))
# WASM=1 builds for WebAssembly: the program that the explorer runs. Needs clang, lld, wasi-libc and the libclang-rt-N-dev-wasm32 of clang's version N.
WASM   ?=
BUILD  ?= build$(if $(SAN),/san)$(if $(PORTABLE),/portable)$(if $(STATIC),/static)$(if $(WASM),/wasm)$(if $(SYSTEM),/systems/$(SYSTEM))
WERROR ?=

# ISO C11 without contraction: the compiler must not fuse a*b+c, as this changes results; see README, "Bits".
STRICT   := -std=c11 -ffp-contract=off -fno-fast-math
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wno-missing-field-initializers \
            -Wno-unknown-warning-option -Wno-unused-parameter -Wno-format-truncation -Wcast-qual -Wundef -Wno-enum-float-conversion $(if $(WINDOWS),-Wno-missing-prototypes) $(if $(WERROR),-Werror)
# Options that make bugs harder to exploit. HARDEN= leaves them out; sanitizers have checks of their own.
HARDEN  ?= $(if $(SAN)$(WASM),,-fstack-protector-strong $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDENL ?= $(if $(SAN)$(filter -static,$(LDFLAGS))$(filter Darwin,$(shell uname))$(SYSTEM)$(WASM),,-pie -Wl,-z,relro,-z,now)
PTHREAD  := $(if $(WASM),,-pthread)
# The program and libsampl are linked from the same objects.
PICFLAGS := $(if $(STATIC)$(SYSTEM)$(WASM),,-fPIC -fvisibility=hidden -ffunction-sections -fdata-sections)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

CJSON := build/static/cjson
ZIG   := build/zig
ifneq ($(STATIC)$(SYSTEM)$(WASM),)
CC           := $(if $(WASM),clang --target=wasm32-wasi,$(if $(SYSTEM),$(wildcard $(ZIG)/node_modules/@zigc/linux-*/bin/zig) cc -target $(SYSTEM),musl-gcc))
# Small: without tables for unwinding, without functions that nothing calls, and without gaps between functions and segments.
STATIC_CFLAGS  := -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
                  -fno-align-functions -fno-align-jumps -fno-align-labels -fno-align-loops
STATIC_LDFLAGS := -static -s -Wl,--gc-sections,-z,noseparate-code
WASM_LDFLAGS := -O0 -s -Wl,--gc-sections,-z,stack-size=1048576
LDFLAGS      := $(if $(STATIC),$(STATIC_LDFLAGS))$(if $(WASM),$(WASM_LDFLAGS))
SYSTEM_LIBS  := $(if $(WASM),-lwasi-emulated-mman -lwasi-emulated-signal) $(if $(WINDOWS),-lbcrypt)
CJSON_CFLAGS := -I$(dir $(CJSON))
CJSON_LIBS   := $(BUILD)/cJSON.o
export ZIG_GLOBAL_CACHE_DIR := $(abspath $(ZIG)/cache)
export ZIG_LOCAL_CACHE_DIR := $(abspath $(ZIG)/cache)
endif
CJSON_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags libcjson)
CJSON_LIBS   ?= $(shell $(PKG_CONFIG) --libs libcjson)

WINDOWS_CPPFLAGS := -D_FILE_OFFSET_BITS=64 -D__USE_MINGW_ANSI_STDIO=1 -isystem src/base/windows -include src/base/windows/posix.h
ALL_CPPFLAGS := $(if $(PORTABLE),-DSAMPL_PORTABLE -D_XOPEN_SOURCE=700,-D_GNU_SOURCE) $(if $(WASM),-D_WASI_EMULATED_MMAN -D_WASI_EMULATED_SIGNAL -isystem src/explorer/wasi) $(if $(WINDOWS),$(WINDOWS_CPPFLAGS)) -Isrc $(CJSON_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS    = $(CFLAGS) $(if $(STATIC),$(STATIC_CFLAGS)) $(STRICT) $(WARN) $(HARDEN) $(PICFLAGS) $(SANFLAGS)
ALL_LDFLAGS   = $(LDFLAGS) $(HARDENL)

SOURCES := $(sort $(wildcard src/*.c src/*/*.c))
OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out src/lib/%,$(SOURCES))) $(BUILD)/out/page.o $(BUILD)/cli/shipped.o
CORE    := $(filter $(foreach f,base kern vocab json grammar schema sample samplers programs chain trace settings session,$(BUILD)/$f/%),$(OBJECTS))
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
WHOLE   := $(BUILD)/unit/variants_check
EMBED   := $(BUILD)/unit/embed
LIB     := $(CORE) $(BUILD)/lib/sampl.o
PRESETS := $(wildcard samples/presets/*.preset)
SCRIPTS := samples/audit samples/ci samples/get samples/lib samples/live samples/scale samples/tune samples/vectors
SCRIPT_FILES := $(filter-out %/__pycache__,$(wildcard $(SCRIPTS:%=%/*)))
SAMPLES := $(filter-out samples/presets $(SCRIPTS),$(wildcard samples/*))
MAN     := $(wildcard man/*.[1357])
SHELLS  := .ci/run packaging/debian/tests/replay src/explorer/make.sh $(filter %.sh,$(SCRIPT_FILES)) $(wildcard packaging/*.sh packaging/*/*.sh tests/*.bash tests/*.sh tests/fuzz/*.sh tests/llama/*.sh)

Q := $(if $(V),,@)
comma := ,

.PHONY: all
all: $(BUILD)/sampl ## build sampl (the default)

$(BUILD)/sampl: $(OBJECTS)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(PTHREAD) -o $@ $^ $(CJSON_LIBS) $(SYSTEM_LIBS) -lm

$(BUILD)/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -ffile-prefix-map='$(CURDIR)'=. $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

# The style and the script of -O html as arrays: page_css[page_css_len], page_js[page_js_len], each of the parts in this order. Lines lose
# their indentation, and comments that are a line of the script go, except for the licence: no text in backquotes may go over two lines.
PAGE_css := palette page
PAGE_js  := base format data text row plot compare sweep page
$(BUILD)/out/page.c: $(foreach kind,css js,$(PAGE_$(kind):%=src/out/html/%.$(kind))) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include <stddef.h>'; for part in '$(PAGE_css:%=src/out/html/%.css)' '$(PAGE_js:%=src/out/html/%.js)'; do kind=$${part##*.}; \
	    echo "extern const unsigned char page_$$kind[];"; echo "extern const size_t page_$${kind}_len;"; echo "const unsigned char page_$$kind[] = {"; \
	    cat $$part | sed '1!{/SPDX/d;}; /SPDX/!{/^ *\/\/ /d;}; s/^ *//' | od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g'; \
	    echo "};"; echo "const size_t page_$${kind}_len = sizeof page_$$kind;"; done; } >$@.new && mv $@.new $@

# The shipped presets as a table: shipped_presets[] of cli/shipped.h.
$(BUILD)/cli/shipped.c: $(sort $(PRESETS)) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "cli/shipped.h"'; echo 'const struct shipped_preset shipped_presets[] = {'; for file in $(sort $(PRESETS)); do \
	    echo "{\"$$(basename $$file .preset)\","; sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$file; echo '},'; done; echo '{0}};'; } >$@.new && mv $@.new $@

$(BUILD)/out/page.o $(BUILD)/cli/shipped.o: %.o: %.c $(BUILD)/flags
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

ifneq ($(STATIC)$(SYSTEM)$(WASM),)
$(OBJECTS): | $(CJSON)/cJSON.h
$(BUILD)/sampl $(EMBED) $(WHOLE): | $(CJSON_LIBS)
$(CJSON_LIBS): $(CJSON)/cJSON.h $(BUILD)/flags
	@echo "  CC    $(CJSON)/cJSON.c"
	$(Q)$(CC) $(CFLAGS) $(HARDEN) -c -o $@ $(CJSON)/cJSON.c
endif

$(CJSON)/cJSON.h:
	@echo "  FETCH cJSON"
	$(Q)packaging/cjson.sh $(@D)

.PHONY: static
static: ## build a static program for every Linux, build/static/sampl (musl-tools; Debian or Ubuntu, for cJSON's source package)
	$(Q)$(MAKE) STATIC=1 all

# libsampl: the core and src/lib. Both files show the functions of src/lib/sampl.h only.
SO := libsampl.so.0
.PHONY: lib
lib: $(BUILD)/$(SO) $(BUILD)/libsampl.a ## build the library for C and other languages, build/libsampl.so.0 and build/libsampl.a
$(BUILD)/$(SO): $(LIB)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(filter-out -pie,$(HARDENL)) -shared -Wl,-soname,$(SO),--gc-sections$(if $(SAN),,$(comma)-z$(comma)defs) -o $@ $^ $(CJSON_LIBS) -lm
$(BUILD)/libsampl.a: $(LIB)
	@echo "  AR    $@"
	$(Q)$(CC) -r -nostdlib -Wl,--gc-sections,--gc-keep-exported -o $(BUILD)/libsampl.o $^
	$(Q)objcopy --localize-hidden $(BUILD)/libsampl.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/libsampl.o

# The explorer: one page that holds the program as WebAssembly, and a sample.
EXPLORER  := build/explorer.html
MAKE_WASM := $(MAKE) --no-print-directory WASM=1 BUILD=build/wasm SAN= STATIC= SYSTEM= PORTABLE= CC='clang --target=wasm32-wasi' CFLAGS=-O2
.PHONY: explorer
explorer: $(EXPLORER) ## build the explorer, one HTML file with sliders: build/explorer.html (clang, lld, wasi-libc, libclang-rt-N-dev-wasm32 of clang N)
$(EXPLORER): build/wasm/sampl $(wildcard src/explorer/*.*) src/out/html/base.js src/out/html/palette.css $(addprefix samples/,austen.f16 austen-vocab.json austen.tokens reply.json)
	@echo "  PAGE  $@"
	$(Q)src/explorer/make.sh build/wasm/sampl >$@.new && mv $@.new $@

# The package sampl for npm: the program as WebAssembly, and its calls of the system for Node.
NPM := build/npm
.PHONY: npm
npm: build/wasm/sampl $(EXPLORER) ## build the npm package, build/sampl-VERSION.tgz (as explorer, and npm)
	$(Q)rm -rf $(NPM) && mkdir -p $(NPM)/man
	$(Q)cp LICENSE $(EXPLORER) $(addprefix packaging/npm/,README.md index.js index.d.ts run.js cli.js) $(NPM)
	$(Q)cp $(filter-out %.3,$(MAN)) $(NPM)/man
	$(Q)cp build/wasm/sampl $(NPM)/sampl.wasm && chmod 644 $(NPM)/sampl.wasm && chmod 755 $(NPM)/cli.js
	$(Q)cat src/explorer/wasi.js src/explorer/memory_files.js packaging/npm/disk_files.js packaging/npm/worker.js >$(NPM)/worker.js
	$(Q)sed 's/@VERSION@/$(VERSION)/' packaging/npm/package.json >$(NPM)/package.json
	$(Q)cd $(NPM) && npm pack --silent --pack-destination .. >/dev/null
build/wasm/sampl: $(if $(WASM),,force)
ifeq ($(WASM),)
	$(Q)for tool in clang wasm-ld; do command -v $$tool >/dev/null || { echo "make explorer: there is no $$tool; install clang, lld and wasi-libc" >&2; exit 1; }; done
	$(Q)[ -e /usr/include/wasm32-wasi/stdio.h ] || { echo "make explorer: there is no wasi-libc; install it" >&2; exit 1; }
	$(Q)[ -e "$$(clang --target=wasm32-wasi -print-libgcc-file-name)" ] || { echo "make explorer: clang has no library for WebAssembly; install libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev-wasm32" >&2; exit 1; }
	$(Q)$(MAKE_WASM) all
endif

# In the static program, what does not sample is small, not fast.
ifneq ($(STATIC),)
$(filter $(BUILD)/cli/% $(BUILD)/settings/% $(BUILD)/programs/% $(BUILD)/schema/% $(BUILD)/views/% $(BUILD)/trace/% $(BUILD)/vocab/% $(BUILD)/run/%,$(OBJECTS)): EXTRA_CFLAGS := -Os
endif

# The scalar tier must not use vector instructions.
$(BUILD)/kern/kern_scalar.o: EXTRA_CFLAGS := -fno-tree-vectorize

# Only the kernels of a SIMD tier may use its instructions.
ifneq ($(filter x86_64-% amd64-%,$(shell $(CC) -dumpmachine)),)
$(BUILD)/kern/kern_avx2.o: EXTRA_CFLAGS := -mavx2 -mf16c -mpopcnt -mbmi
$(BUILD)/kern/kern_avx512.o: EXTRA_CFLAGS := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mpopcnt -mbmi
endif

ifneq ($(WASM),)
$(BUILD)/kern/kern_simd128.o: EXTRA_CFLAGS := -msimd128
endif

# The folder of installed presets is compiled into preset.o; a change of the folder recompiles it.
$(BUILD)/cli/preset.o: EXTRA_CFLAGS := -DSAMPL_DATADIR='"$(pkgdatadir)"'
$(BUILD)/cli/preset.o: $(BUILD)/pkgdatadir
.PHONY: force
$(BUILD)/pkgdatadir: force
	@mkdir -p $(@D)
	@echo '$(pkgdatadir)' | cmp -s - $@ || echo '$(pkgdatadir)' >$@

# A change of the compiler or of its flags recompiles every file.
FLAGS := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' >$@

-include $(OBJECTS:.o=.d) $(BUILD)/lib/sampl.d $(UNITS:%=%.d)
include tests/tests.mk


.PHONY: compile_commands.json
compile_commands.json: ## write the compile commands for clangd and other tools
	@printf '[%s]\n' "$$(printf '{"directory":"$(CURDIR)","file":"%s","command":"$(CC) $(subst ",\\\",$(ALL_CPPFLAGS) $(ALL_CFLAGS)) -c %s"},' \
	    $(foreach f,$(SOURCES),$(f) $(f)) | sed 's/,$$//')" >$@

.PHONY: completions site manual
completions: $(BUILD)/sampl ## write the completion scripts from the option table
	$(Q)$< --generate=bash >completions/sampl.bash
	$(Q)$< --generate=zsh >completions/_sampl
	$(Q)$< --generate=fish >completions/sampl.fish

.PHONY: vectors
vectors: $(BUILD)/sampl ## write the test vectors of samples/vectors (python3)
	$(Q)tests/vectors/make.py $< samples/vectors

.PHONY: demo
demo: ## build sampl on all processors, and choose tokens from a real model's logits, and show the candidates
	@$(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j"$$(nproc 2>/dev/null || echo 2)") all
	$(BUILD)/sampl --vocab samples/austen.gguf -s 2 --emit text samples/austen-gen.f32; echo
	$(BUILD)/sampl --vocab samples/austen.gguf -s 1 --rows 0 --dump-probs=3 samples/austen.f16

.PHONY: install
install: $(BUILD)/sampl ## install under PREFIX (default /usr/local), below DESTDIR
	$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1' '$(DESTDIR)$(mandir)/man5' '$(DESTDIR)$(mandir)/man7' \
	    '$(DESTDIR)$(bashcompdir)' '$(DESTDIR)$(zshcompdir)' '$(DESTDIR)$(fishcompdir)' '$(DESTDIR)$(pkgdatadir)/presets' \
	    $(SCRIPTS:%='$(DESTDIR)$(pkgdatadir)/%') '$(DESTDIR)$(docdir)'
	$(INSTALL) -m 755 $(BUILD)/sampl '$(DESTDIR)$(bindir)/sampl'
	$(INSTALL) -m 644 $(filter %.1,$(MAN)) '$(DESTDIR)$(mandir)/man1'
	$(INSTALL) -m 644 $(filter %.5,$(MAN)) '$(DESTDIR)$(mandir)/man5'
	$(INSTALL) -m 644 $(filter %.7,$(MAN)) '$(DESTDIR)$(mandir)/man7'
	$(INSTALL) -m 644 completions/sampl.bash '$(DESTDIR)$(bashcompdir)/sampl'
	$(INSTALL) -m 644 completions/_sampl '$(DESTDIR)$(zshcompdir)/_sampl'
	$(INSTALL) -m 644 completions/sampl.fish '$(DESTDIR)$(fishcompdir)/sampl.fish'
	$(INSTALL) -m 644 LICENSE $(wildcard $(EXPLORER)) '$(DESTDIR)$(docdir)'
	$(INSTALL) -m 644 $(PRESETS) '$(DESTDIR)$(pkgdatadir)/presets'
	$(INSTALL) -m 644 $(SAMPLES) '$(DESTDIR)$(pkgdatadir)/samples'
	for f in $(SCRIPT_FILES); do $(INSTALL) -m $$(if [ -x $$f ]; then echo 755; else echo 644; fi) $$f '$(DESTDIR)$(pkgdatadir)/'$$f || exit; done

.PHONY: install-lib
install-lib: lib ## install libsampl, its header, its page and its pkg-config file under PREFIX, below DESTDIR
	$(INSTALL) -d '$(DESTDIR)$(libdir)/pkgconfig' '$(DESTDIR)$(includedir)' '$(DESTDIR)$(mandir)/man3'
	$(INSTALL) -m 755 $(BUILD)/$(SO) '$(DESTDIR)$(libdir)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/libsampl.so'
	$(INSTALL) -m 644 $(BUILD)/libsampl.a '$(DESTDIR)$(libdir)'
	$(INSTALL) -m 644 src/lib/sampl.h '$(DESTDIR)$(includedir)'
	$(INSTALL) -m 644 $(filter %.3,$(MAN)) '$(DESTDIR)$(mandir)/man3'
	printf '%s\n' 'Name: libsampl' 'Description: sampler chains of llama.cpp and other programs' 'Version: $(VERSION)' 'Requires.private: libcjson' \
	    'Libs: -L$(libdir) -lsampl' 'Libs.private: -lm' 'Cflags: -I$(includedir)' >$(BUILD)/libsampl.pc
	$(INSTALL) -m 644 $(BUILD)/libsampl.pc '$(DESTDIR)$(libdir)/pkgconfig'

# Removes the files of install and install-lib, and then folders that are empty. The prefix, its bin and its share stay, as other programs may use them.
.PHONY: uninstall
uninstall: ## remove exactly the files of install and install-lib
	rm -f '$(DESTDIR)$(bindir)/sampl' $(foreach page,$(MAN),'$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))') \
	    '$(DESTDIR)$(bashcompdir)/sampl' '$(DESTDIR)$(zshcompdir)/_sampl' '$(DESTDIR)$(fishcompdir)/sampl.fish' '$(DESTDIR)$(docdir)/LICENSE' '$(DESTDIR)$(docdir)/explorer.html' \
	    $(foreach f,$(SO) libsampl.so libsampl.a pkgconfig/libsampl.pc,'$(DESTDIR)$(libdir)/$f') '$(DESTDIR)$(includedir)/sampl.h' \
	    $(foreach f,$(notdir $(PRESETS)),'$(DESTDIR)$(pkgdatadir)/presets/$f') $(foreach f,$(SAMPLES) $(SCRIPT_FILES),'$(DESTDIR)$(pkgdatadir)/$f')
	for dir in '$(libdir)/pkgconfig' '$(mandir)/man1' '$(mandir)/man3' '$(mandir)/man5' '$(mandir)/man7' '$(bashcompdir)' '$(zshcompdir)' '$(fishcompdir)' '$(docdir)' '$(pkgdatadir)/presets' \
	    $(SCRIPTS:%='$(pkgdatadir)/%'); do \
	    while [ "$${dir%/*}" ] && [ "$${dir%/*}" != '$(prefix)' ] && rmdir '$(DESTDIR)'"$$dir" 2>/dev/null; do dir=$${dir%/*}; done; done

# The tarball has the committed files, each manual page as text, and the explorer if it was built. Without the explorer its bytes depend on
# the commit only.
DIST := build/sampl-$(VERSION)
.PHONY: dist
dist: ## make a tarball of the committed files, with the manual as text: build/sampl-VERSION.tar.gz (git, mandoc)
	rm -rf $(DIST) && mkdir -p $(DIST)
	git archive HEAD | tar -xC $(DIST)
	for page in $(MAN); do mandoc -Tutf8 -Owidth=100 $$page | LC_ALL=C sed 's/.\x08//g' >$(DIST)/$$page.txt || exit 1; done
	if [ -e $(EXPLORER) ]; then $(MAKE) -s explorer && mkdir $(DIST)/build && cp $(EXPLORER) $(DIST)/build; fi
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=u-w --mtime="@$$(git log -1 --format=%ct)" -C build -c sampl-$(VERSION) | gzip -9n >$(DIST).tar.gz
	rm -rf $(DIST)

# DEBFLAGS: more options of dpkg-buildpackage, such as -B for the packages of this architecture only.
.PHONY: deb
deb: dist $(CJSON)/cJSON.h ## make Debian's source package and packages in build/deb (git, mandoc, debhelper; as explorer)
	$(Q)packaging/source.sh $(VERSION) $(DIST).tar.gz $(CJSON) build/deb
	cd build/deb/sampl-$(VERSION) && dpkg-buildpackage -us -uc $(DEBFLAGS)

RELEASE := build/release
.PHONY: release
release: static windows npm deb site ## put all that a release has into build/release, with SHA256SUMS (as static, windows, npm, deb and site)
	rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	cp build/static/sampl $(RELEASE)/sampl-$(VERSION)-linux-$$(uname -m)
	cp build/windows/sampl.exe $(RELEASE)/sampl-$(VERSION)-windows-x86_64.exe
	cp $(DIST).tar.gz $(DIST).tgz $$(ls build/deb/*.deb | grep -v dbgsym) $(EXPLORER) $(RELEASE)
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$$(git log -1 --format=%ct)" -C build -c site | gzip -9n >$(RELEASE)/sampl-$(VERSION)-site.tar.gz
	cd $(RELEASE) && sha256sum -- * >SHA256SUMS && ls -l

SITE := build/site
site: $(EXPLORER) ## build the site: the manual with a search, the explorer, the vectors: build/site (mandoc, cmark-gfm, as explorer)
	$(Q)packaging/site/make.sh $(SITE) $(EXPLORER)

manual: $(BUILD)/sampl ## write the generated blocks of the manual pages from the program's tables
	$(Q)for page in $(MAN); do packaging/manual.sh $< $$page >$$page.new && mv $$page.new $$page || exit 1; done

C_FILES := $(wildcard src/*.[ch] src/*/*.[ch] tests/cover.c tests/inject.c tests/lib_check.c tests/fuzz/*.c tests/unit/*.[ch] tests/llama/*.[ch] tests/llama/*.cpp samples/get/*.c samples/lib/*.c samples/live/*.c)

.PHONY: fmt
fmt: ## format the C sources
	clang-format -i $(C_FILES)

# LINT_PART=2/4: clang-tidy checks each fourth source, from the second on.
TIDY = $(shell printf '%s\n' $(SOURCES) | awk -v part='$(LINT_PART)' 'split(part, p, "/") < 2 || NR % p[2] == p[1] % p[2]')
.PHONY: lint
lint: ## run clang-format, clang-tidy, cppcheck, shellcheck and mandoc (LINT_PART=2/4: clang-tidy checks the second fourth)
	clang-format --dry-run -Werror $(C_FILES)
	tests/tidy.sh $(STRICT) $(ALL_CPPFLAGS) -DSAMPL_DATADIR='""' -- $(TIDY)
	cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability -j"$$(nproc)" \
	    --suppress=missingIncludeSystem -Isrc -DSAMPL_DATADIR='""' src
	shellcheck $(SHELLS) completions/sampl.bash
	shellcheck --shell=bats $(wildcard tests/*.bats)
	mandoc -Tlint -Wwarning $(MAN)

.PHONY: clean
clean: ## remove everything built
	rm -rf build

.PHONY: help
help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile tests/tests.mk | expand -t 14
	@echo "Variables: PREFIX DESTDIR CC CFLAGS SAN=address,undefined WERROR=1 V=1"
