# make chapter4 && ./chapter4
#
# Chapters are found in chapters/NN_*: to add one, add a folder. The compiler is NVIDIA's nvcc where there is a
# GPU to run on, and emulator/bin/nvcc where there is none; everything after that choice is the same.

CHAPTERS  := $(patsubst %/matmul.cu,%,$(sort $(wildcard chapters/[0-9][0-9]_*/matmul.cu)))
# chapters/04_name -> 4
number_of  = $(patsubst 0%,%,$(firstword $(subst _, ,$(notdir $(1)))))
PROGRAMS  := $(foreach c,$(CHAPTERS),chapter$(call number_of,$(c)))
# 4 -> chapters/04_name/matmul.cu
source_of  = $(addsuffix /matmul.cu,$(filter chapters/$(1)_% chapters/0$(1)_%,$(CHAPTERS)))

# ---- which compiler ----
# The shell gets paths in apostrophes, C code and linker scripts get them in quotes, make reads them in lists of
# headers, and a colon ends a folder of PATH.
$(foreach c,' " \ ` $$ : ; |,$(if $(findstring $c,$(CURDIR)),\
    $(error $(CURDIR): there is $c in this path, and make cannot build in such a folder: rename or move it)))
# The toolkit is the one that CUDA_HOME names, or the one on PATH, or the one in the usual place.
TOOLKIT   := $(or $(CUDA_HOME),$(CUDA_PATH))
USUAL     := $(or $(PATH),/usr/local/bin:/usr/bin:/bin)
export PATH := $(if $(TOOLKIT),$(TOOLKIT)/bin:$(USUAL),$(USUAL):/usr/local/cuda/bin)
path_of    = $(shell PATH='$(PATH)' command -v $(1) 2>/dev/null)
REAL_NVCC := $(filter-out $(CURDIR)/emulator/bin/nvcc,$(call path_of,nvcc))
GPU       := $(shell nvidia-smi -L 2>/dev/null | grep '^GPU ' | head -n 1)
# An empty setting counts as one that was not given.
ifeq ($(strip $(EMULATOR)),)
  override EMULATOR := $(if $(and $(REAL_NVCC),$(GPU)),0,1)
  WHY := $(if $(REAL_NVCC),$(if $(GPU),there is a GPU: $(REAL_NVCC),there is nvcc, but no GPU to run on: using the emulator),no nvcc here: using the emulator)
else ifeq ($(EMULATOR),0)
  WHY := EMULATOR=0: using $(REAL_NVCC)
else ifeq ($(EMULATOR),1)
  WHY := EMULATOR=1: using the emulator
else
  $(error EMULATOR must be 0 (NVIDIA's nvcc) or 1 (the emulator), not "$(EMULATOR)")
endif
ifeq ($(strip $(ARCH)),)
  override ARCH := native
else ifneq ($(words $(ARCH)) $(filter native sm_% compute_%,$(ARCH)),1 $(ARCH))
  $(error ARCH must be native or sm_NN, such as sm_90, not "$(ARCH)")
endif

comma := ,
# Whether a variable stands in make's command line: OUT may be anything in the environment.
given = $(filter command line,$(origin $(1)))

# A field of struct chapter that is left out is zero, and that is what is meant.
# Warnings are errors with STRICT=1, as in the tests. A reader's compiler may be newer than
# this text, and what it newly warns of must not keep them from chapter 1.
WARNINGS := -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers$(if $(STRICT),$(comma)-Werror)
ifeq ($(EMULATOR),1)
  WORLD := emulator
  NVCC  := emulator/bin/nvcc
  TOOL  := emulator/build/nvcc
  LIBRARY := emulator/build/libemulator.a
  FLAGS := -O2 -std=c++17 -Icommon -Ichapters $(WARNINGS)
else
  WORLD := gpu-$(ARCH)
  NVCC  ?= $(or $(REAL_NVCC),$(error EMULATOR=$(EMULATOR) asks for the real nvcc, and there is none: CUDA_HOME can say where it is))
  # -fPIC: chapter 11 loads what it has compiled.
  FLAGS := -O3 -std=c++17 -Icommon -Ichapters -arch=$(ARCH) -lineinfo -Xcompiler -fPIC $(WARNINGS) $(if $(STRICT),-Werror all-warnings)
endif
# wgmma is an instruction of sm_90a, which is code for Hopper and nothing else: the chapters that use it get that
# where the others get sm_90.
WARPGROUPS := $(patsubst %/,%,$(sort $(dir $(shell grep -ls 'include "wgmma.h"' chapters/*/*.cu*))))
# The sums of a tensor core's kernel fill its registers. nvcc warns if it had to keep some in memory, and with
# STRICT=1 that is an error.
TENSOR_CORES := $(WARPGROUPS) $(patsubst %/,%,$(sort $(dir $(shell grep -ls 'include "mma_sync.h"' chapters/*/*.cu*))))
SPILLS     = $(if $(filter-out 1,$(EMULATOR)),-Xptxas -warn-spills)
capability = $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
with_wgmma = $(if $(filter native,$(1)),$(if $(filter 9.0,$(capability)),sm_90a,native),$(patsubst %_90,%_90a,$(1)))
arch_of    = $(if $(filter $(1),$(WARPGROUPS)),$(call with_wgmma,$(2)),$(2))
flags_of   = $(subst -arch=$(ARCH),-arch=$(call arch_of,$(1),$(ARCH)),$(FLAGS)) $(if $(filter $(1),$(TENSOR_CORES)),$(SPILLS))
BUILD  := build/$(WORLD)
COMMON := $(patsubst %.c,$(BUILD)/%.o,$(wildcard common/*.c))
Q      := $(if $(V),,@)

# ---- programs ----
# Nothing here is made by make's own rules, and what a failed command left is no result.
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

.PHONY: help all clean test test-all test-long test-gpu format mutants lens-vs-ncu patterns ladder shapes power many-gpus tried profiles errors kernels warps registers tables plots \
    images notebooks scenes site bench-emulator exercises watch grade $(PROGRAMS)
help:           ## show this list
	@paint=; [ -t 1 ] && [ -z "$$NO_COLOR" ] && paint=yes; \
	awk -v paint="$$paint" -v programs="$(PROGRAMS)" "$$HELP" Makefile

# The targets under the headings of this file, at most 80 columns wide.
define HELP
function wrapped(first, width, text,   words, n, i, line, space) {
    n = split(text, words, " "); line = first
    for (i = 1; i <= n; i++) {
        if (length(line) + length(words[i]) + 1 > 80) {
            print line; line = sprintf("%*s", width, "")
        }
        space = line == "" || line ~ / $$/ ? "" : " "
        line = line space words[i]
    }
    print line
}
function heading(text) {
    print (paint ? "\033[1m" text "\033[0m" : text)
}
BEGIN {
    heading("make chapterN && ./chapterN")
    wrapped("  ", 2, "builds and runs a chapter: " programs)
}
/^# ---- / { gsub(/^# ---- | ----$$/, ""); group = $$0; next }
{ sub(/^[$$][(]TIMES[)]: /, "") }
/^[a-zA-Z%-]+:.*## / {
    if (group != "") { print ""; heading(group); group = "" }
    name = $$0; sub(/:.*/, "", name); sub(/%/, "N", name)
    text = $$0; sub(/.*## /, "", text)
    wrapped(sprintf("  make %-15s ", name), 23, text)
}
END {
    print ""
    wrapped("", 0, "EMULATOR=1 takes the emulator, EMULATOR=0 NVIDIA's nvcc (without it: nvcc where there is a GPU); CUDA_HOME=folder another CUDA Toolkit, ARCH=sm_NN another GPU than the one here; V=1 shows commands")
}
endef
export HELP

all: $(PROGRAMS) ## build every chapter

# The program in the root is a copy, so that it is always the one of the world asked for last.
$(PROGRAMS): chapter%: $(BUILD)/chapter%
	@cp -f $< $@
	@echo "./$@ is ready ($(WHY))"

# Those that are there have rules of their own: what comes here is not, or is one of common's
# files, which `make -B` asks for.
chapter%:
	$(if $(filter .,$(@D)),$(error there is no $@: they go from $(firstword $(PROGRAMS)) to $(lastword $(PROGRAMS))))

# What no rule makes, and no file is: a name that is misspelt, most often.
.DEFAULT:
	$(if $(shell test -e '$@' || echo missing),$(error there is no "$@": make help lists what there is))

# A folder is there already, and make would say that all is well with "make tests".
FOLDERS := chapters common emulator results tests
.PHONY: $(FOLDERS)
$(FOLDERS):
	$(error $@ is a folder and nothing to make: make help lists what there is)

# A number is missing: "make chapter", "make chapter 4".
WITH_NUMBER := chapter parts ptx sass loop profile memcheck exercise hint solution reset time
.PHONY: $(WITH_NUMBER)
$(WITH_NUMBER):
	$(error make $@ wants a number right behind it: make $@4)

# What a file includes, its compiler notes down in the .d beside the object.
$(BUILD)/%.o: %.cu $(TOOL) | $(BUILD)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(call flags_of,$(<D)) -MD -MP -MF $(@:.o=.d) -c $< -o $@ $(call no_slow_wgmma,$(<D))

# Where it must wait more often than the source says, or cannot hand out registers as the source says, nvcc
# makes a slow kernel of it and a note; here the note is an error.
no_slow_wgmma = $(if $(filter-out 1,$(EMULATOR)),$(if $(filter $(1),$(WARPGROUPS)),\
    2>$(@:.o=.notes); built=$$?; cat $(@:.o=.notes) >&2; [ $$built = 0 ] && ! grep -q '(C75[0-9]*)' $(@:.o=.notes)))

$(BUILD)/%.o: %.c $(TOOL) | $(BUILD)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(filter-out -std=c++17,$(FLAGS)) -MD -MP -MF $(@:.o=.d) -c $< -o $@

# The reference product is most of what the host does, on the emulator too: -O3 computes it in vectors.
$(BUILD)/common/verify.o: FLAGS := $(FLAGS:-O2=-O3)

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d)

# The emulator has a Makefile of its own, which its nvcc asks: this is how a change of its
# library becomes a link, and one of its translator a compilation.
$(LIBRARY): FORCE
	+@$(NVCC) --version >/dev/null
$(TOOL): $(LIBRARY)
	+@:
FORCE:

# The first thing that is made, and then never again: a newcomer should not think that it hangs.
$(BUILD):
	@mkdir -p $@
	@echo "building what all chapters share, once: some seconds" >&2

# What else lies in a chapter's folder belongs to its program.
parts_of = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/*.c)) \
    $(patsubst %.cu,$(BUILD)/%.o,$(filter-out $(1)/matmul.cu,$(wildcard $(1)/*.cu))) $(COMMON)

# The libraries beside cuBLAS that a chapter's file `libraries` names, as far as they are here: it can do without, and says so.
library_is_here = $(or $(filter 1,$(EMULATOR)),$(shell echo 'int main(void) { return 0; }' | cc -x c - -l$(1) -o /dev/null 2>/dev/null && echo yes))
libraries_of = -lcublas -lcublasLt $(if $(wildcard $(1)/libraries),$(foreach l,$(shell cat $(1)/libraries),$(if $(call library_is_here,$(l)),-Xlinker --no-as-needed -l$(l))))

define chapter_rules
$(BUILD)/chapter$(call number_of,$(1)): $(BUILD)/$(1)/matmul.o $(call parts_of,$(1)) $(LIBRARY)
	$$(Q)$$(NVCC) $$(FLAGS) $$(filter %.o,$$^) -o $$@ $$(call libraries_of,$(1))

# For a notebook, which compiles the chapter's matmul.cu by itself: why this compiler, which, with what.
.PHONY: parts$(call number_of,$(1))
parts$(call number_of,$(1)): $(call parts_of,$(1))
	@printf '%s\n' '$$(WHY)' '$$(NVCC)' '$$(call flags_of,$(1)) -I$(1) $$^ $$(call libraries_of,$(1))'
endef
$(foreach c,$(CHAPTERS),$(eval $(call chapter_rules,$(c))))

# ---- chapter 11's candidates: ./chapter11 --tune asks for them by name ----
TUNED := chapters/11_autotuning
TUNED_PARTS := $(call parts_of,$(TUNED))
CANDIDATES := build/tune/$(if $(filter 1,$(EMULATOR)),emulator,$(ARCH))
$(CANDIDATES)/%.verdict: $(TUNED)/matmul.cu $(TUNED)/tune.h $(TUNED)/candidate.sh $(TUNED_PARTS)
	@NVCC='$(NVCC)' FLAGS='$(FLAGS)' OBJECTS='$(TUNED_PARTS)' \
	    LIBRARIES='-lcublas -lcublasLt' sh $(TUNED)/candidate.sh $* $(@:.verdict=)

# ---- what the compiler and NVIDIA's tools see ----
need = $(if $(call path_of,$(1)),,$(error $(1) is not here: $(2)))
FROM_TOOLKIT := it comes with the CUDA Toolkit, https://developer.nvidia.com/cuda-downloads
SHOW_ARCH = $(call arch_of,$(patsubst %/,%,$(dir $(call source_of,$*))),$(if $(filter native,$(ARCH)),sm_90,$(ARCH)))

# What ptx, sass and loop ask first: is there such a chapter, is there NVIDIA's compiler?
define need_chapter_and_nvcc
$(if $(filter chapter$*,$(PROGRAMS)),,$(error there is no chapter$*: they go from $(firstword $(PROGRAMS)) to $(lastword $(PROGRAMS))))
$(if $(REAL_NVCC),,$(error nvcc is not here: $(FROM_TOOLKIT)))
endef

ptx%:           ## a chapter's PTX, the compiler's portable assembly
	$(need_chapter_and_nvcc)
	$(Q)$(REAL_NVCC) -O3 -std=c++17 -arch=$(SHOW_ARCH) -Icommon -ptx $(call source_of,$*) -o -

sass%:          ## a chapter's machine code, with registers and spills
	$(need_chapter_and_nvcc)
	$(call need,cuobjdump,$(FROM_TOOLKIT))
	@mkdir -p build
	$(Q)$(REAL_NVCC) -O3 -std=c++17 -arch=$(SHOW_ARCH) -Icommon -Xptxas -v -cubin $(call source_of,$*) -o build/chapter$*.cubin
	$(Q)cuobjdump -sass build/chapter$*.cubin

loop%:          ## what a chapter's main loop is made of, from its machine code
	$(need_chapter_and_nvcc)
	$(call need,cuobjdump,$(FROM_TOOLKIT))
	$(Q)$(MAKE) -s --no-print-directory sass$* 2>/dev/null | python3 results/loop.py

profile%: chapter% ## Nsight Compute's view of a chapter (needs a GPU)
	$(call need,ncu,it comes with the CUDA Toolkit or as Nsight Compute)
	$(Q)ncu --clock-control none --set full -k "regex:$$(PYTHONPATH=results python3 -B -c 'import profiles; print(profiles.kernels_of($*))')" -c 1 ./chapter$* --check-only

memcheck%: chapter% ## compute-sanitizer's view of a chapter (needs a GPU)
	$(call need,compute-sanitizer,$(FROM_TOOLKIT))
	$(Q)for tool in memcheck racecheck initcheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 1 ./chapter$* 300 200 100 --check-only --no-guards || exit 1; done

# ---- exercises ----
CLASSROOM = $(call need,python3,on Debian, apt install python3)$(Q)python3 -B exercises/classroom.py
EXERCISES := $(foreach e,$(sort $(wildcard exercises/[0-9][0-9]_*)),$(call number_of,$(e)))
which_exercise = $(or $(filter $(EXERCISES),$*),$(error there is no exercise$*: they go from 1 to $(lastword $(EXERCISES))))

# "Not yet" is an answer, not an error of make's; what else there is keeps its number.
ANSWER = || { code=$$?; test $$code = 1 || exit $$code; }

exercise%:      ## grade an exercise: make exercise3
	$(CLASSROOM) grade $(which_exercise) $(ANSWER)

exercises:      ## grade all exercises you have begun, and see where you stand
	$(CLASSROOM) all

watch:          ## grade the current exercise whenever you save it
	$(CLASSROOM) watch

hint%:          ## a hint for an exercise, LEVEL=1, 2 or 3
	$(CLASSROOM) hint $(which_exercise) $(LEVEL)

solution%:      ## an exercise's solution, once it is passed (or FORCE=1)
	$(CLASSROOM) solution $(which_exercise) $(if $(FORCE),--force) $(ANSWER)

reset%:         ## an exercise's skeleton again; your file is kept
	$(CLASSROOM) reset $(which_exercise)

# The products can be run as the chapters are: checked at any shape and, with a GPU, timed.
PRODUCTS := $(foreach f,$(shell grep -l '^kind = matmul$$' exercises/*/exercise.ini),$(call number_of,$(patsubst %/exercise.ini,%,$(f))))
folder_of_exercise = $(strip $(foreach e,$(wildcard exercises/[0-9][0-9]_*),$(if $(filter $*,$(call number_of,$(e))),$(e))))
chapter_of_exercise = $(shell sed -n 's/.*chapters\/0*\([0-9][0-9]*\)_.*/\1/p' $(call folder_of_exercise)/README.md | head -n 1)

shape = $(if $(call given,SHAPE),$(SHAPE))
TIMES := $(addprefix time,$(PRODUCTS))
.PHONY: $(addprefix time,$(EXERCISES))
$(filter-out $(TIMES),$(addprefix time,$(EXERCISES))):
	$(error $@: only matrix products are timed, exercises $(PRODUCTS))
# No pattern: there are files, too, whose names begin so.
$(filter-out $(addprefix time,$(EXERCISES)),$(filter time%,$(MAKECMDGOALS))):
	$(error there is no exercise$(@:time%=%): they go from 1 to $(lastword $(EXERCISES)))
$(TIMES): time%: $(COMMON) $(LIBRARY) ## an exercise's product beside its chapter and cuBLAS (needs a GPU)
	$(Q)$(NVCC) $(FLAGS) -Iexercises -I$(folder_of_exercise) -DCHAPTER=$(chapter_of_exercise) \
	    -DANSWER='"../$(folder_of_exercise)/exercise.cu"' exercises/time.cu $(COMMON) -lcublas -lcublasLt -o $(BUILD)/time$*
	$(Q)$(MAKE) -s --no-print-directory chapter$(chapter_of_exercise)
	$(Q)$(BUILD)/time$* $(shape) && ./chapter$(chapter_of_exercise) $(shape)

grade:          ## for teachers: grade a folder, SUBMISSIONS=dir (OUT= STUDENT= EXERCISE= DEADLINE= TRUST=1)
	$(CLASSROOM) submissions "$(or $(SUBMISSIONS),$(error say which folder: make grade SUBMISSIONS=dir))" \
	    $(if $(call given,OUT),--out "$(OUT)") $(if $(STUDENT),--student "$(STUDENT)") $(if $(EXERCISE),--exercise $(EXERCISE)) \
	    $(if $(DEADLINE),--deadline "$(DEADLINE)") $(if $(TRUST),--trust)

# ---- tests and measurements ----
test:           ## the quick tests, about five minutes; needs no GPU
	$(Q)sh tests/run --quick

test-all:       ## everything that CI runs, about an hour; needs no GPU
	$(Q)sh tests/run

test-long:      ## the tests that take minutes each; needs no GPU
	$(Q)sh tests/run -m long

mutants:        ## plant random bugs in the kernels, COUNT=100 SEED=1: how many does ./chapterN reject?
	$(Q)python3 -B tests/mutants.py $(if $(COUNT),--count "$(COUNT)") $(if $(SEED),--seed "$(SEED)") \
	    $(if $(JOBS),--jobs "$(JOBS)") $(if $(UNSEEN),--unseen) $(if $(call given,OUT),--out "$(OUT)")

test-gpu: $(if $(GPU),all) ## shapes, some drawn at random (SEED=1), compute-sanitizer and occupancy on the GPU here
	$(Q)python3 tests/gpu.py

format: .venv/tests.txt ## every C, CUDA and Python file in the one layout
	$(Q)find chapters common emulator exercises tests -name '*.[ch]' -o -name '*.cu*' -o -name '*.cpp' | \
	    xargs .venv/bin/clang-format -i
	$(Q).venv/bin/ruff format -q . && .venv/bin/ruff check -q --fix .

ladder: $(if $(GPU),all) ## every chapter beside cuBLAS, into results/
	$(Q)python3 results/measure.py

shapes: $(if $(GPU),all) ## chapters 12, 13, 17 and 18 at many shapes, beside the best of cuBLAS, into results/
	$(Q)python3 results/measure.py --many

power: $(if $(GPU),all) ## the tensor cores' chapters in a burst and for seconds, with clock and watts, into results/
	$(Q)python3 results/power.py

many-gpus: $(if $(GPU),all) ## chapter 19 on several GPUs, into results/ (needs two)
	$(Q)python3 results/many_gpus.py

tried: $(if $(GPU),chapter1) ## what was tried and not kept (chapters/*/tried), beside the chapters as they are
	$(Q)python3 results/tried.py

profiles: $(if $(GPU),all) ## what Nsight Compute counts in every chapter, into results/ (needs a GPU)
	$(Q)python3 results/profiles.py

ERRORS := chapters/18_fp32_from_halves
errors: $(COMMON) $(LIBRARY) ## how exact chapter 18 is, and other ways to split, into results/
	$(Q)$(NVCC) $(call flags_of,$(ERRORS)) -I$(ERRORS) results/errors.cu $(COMMON) -lcublas -lcublasLt -o $(BUILD)/errors
	$(Q)$(BUILD)/errors schemes >results/errors.csv
	$(Q)$(if $(filter 0,$(EMULATOR)),$(BUILD)/errors families >results/errors_$$(nvidia-smi --query-gpu=name --format=csv,noheader | tr A-Z a-z | grep -om 1 '[a-z]*[0-9][a-z0-9]*' | head -n 1).csv,echo 'results/errors.csv is new; beside cuBLAS it needs a GPU')

KERNELS := chapters/17_every_shape_and_type
kernels: $(COMMON) $(LIBRARY) ## which kernel chapter 17 gives to which product, into results/ (no GPU)
	$(Q)$(NVCC) $(call flags_of,$(KERNELS)) -I$(KERNELS) results/kernels.cu $(COMMON) -lcublas -lcublasLt -o $(BUILD)/kernels
	$(Q)$(BUILD)/kernels >$(BUILD)/kernels.csv && mv $(BUILD)/kernels.csv results/kernels.csv

warps: | $(BUILD) ## how warps take turns at a scheduler, clock by clock, into results/ (needs a GPU)
	$(Q)$(if $(filter 1,$(EMULATOR)),echo "make warps needs a GPU and nvcc"; exit 3)
	$(Q)$(NVCC) $(FLAGS) results/warps.cu -o $(BUILD)/warps
	$(Q)$(BUILD)/warps >$(BUILD)/warps.csv && mv $(BUILD)/warps.csv results/warps.csv && python3 results/replays.py warps

registers:      ## the registers of every chapter, which --occupancy needs (nvcc, no GPU)
	$(Q)python3 results/registers.py

# ---- tables, figures, notebooks, the site ----
tables:         ## the numbers in the READMEs, from results/ and the lens
	$(Q)python3 results/tables.py

plots: .venv/plots.txt ## the plots in images/, from results/
	$(Q).venv/bin/python results/plots.py

FIGURES := $(patsubst %,%.svg,$(basename $(wildcard images/*.dot images/*.py)))
images: plots $(FIGURES) ## all figures: plots, images/*.dot, images/*.py, and what the lens draws
	$(call need,dot,it comes with Graphviz: apt install graphviz)
	$(Q)python3 results/lens_figures.py
	$(Q)python3 results/replay_figures.py
# A pipe would hide that nothing was drawn.
coloured = printf '%s\n' "$$drawn" | python3 results/palette.py >$@
# The last line names the source by its hash: a test can tell whether the picture is older.
stamp = echo "<!-- made from $<: $$(sha256sum <$< | cut -c -16) -->" >>$@

images/%.svg: images/%.dot
	$(call need,dot,it comes with Graphviz: apt install graphviz)
	$(Q)drawn=$$(dot -Tsvg $<) && $(coloured) && $(stamp)

images/%.svg: images/%.py
	$(Q)drawn=$$(PYTHONPATH=results python3 -B $<) && $(coloured) && $(stamp)

# A file in .venv says which requirements are in it.
.venv/tests.txt: tests/requirements.txt
.venv/plots.txt: results/requirements.txt
.venv/notebooks.txt: notebooks/requirements.txt
.venv/site.txt: notebooks/site/requirements.txt
.venv/tests.txt .venv/plots.txt .venv/notebooks.txt .venv/site.txt:
	$(Q)test -x .venv/bin/python || python3 -m venv .venv || { echo "on Debian: apt install python3-venv"; exit 3; }
	$(Q).venv/bin/python -m pip install -q --disable-pip-version-check -r $<
	@cp $< $@

notebooks: .venv/plots.txt .venv/notebooks.txt ## the notebooks, from their sources, and run
	$(Q)python3 notebooks/make.py
	$(Q).venv/bin/python notebooks/run.py --store

site: .venv/site.txt ## the book as a web site, in build/site
	$(Q)python3 -B notebooks/site/assemble.py build/site.source
	$(Q).venv/bin/python -m sphinx -q -W --keep-going -c notebooks/site -d build/site.cache build/site.source build/site
	@echo "build/site/index.html is ready"

scenes:         ## what the lens counts in every chapter and its variants, for the site's figures
	$(Q)python3 results/scenes.py
	$(Q)python3 results/replays.py

# ---- the emulator ----
lens-vs-ncu:    ## the lens beside Nsight Compute's counters (needs a GPU)
	$(call need,ncu,it comes with the CUDA Toolkit or as Nsight Compute)
	$(Q)for emulator in 0 1; do $(MAKE) --no-print-directory EMULATOR=$$emulator all patterns || exit 1; done
	$(Q)python3 results/lens_vs_ncu.py

patterns: $(BUILD)/tests/lens/patterns.o $(LIBRARY)
	$(Q)$(NVCC) $(FLAGS) $< -o $(BUILD)/patterns

bench-emulator: ## how fast the emulator is here
	$(Q)$(MAKE) --no-print-directory EMULATOR=1 all >/dev/null && python3 tests/bench_emulator.py

clean:          ## remove everything that was built
	rm -rf build emulator/build $(PROGRAMS)
