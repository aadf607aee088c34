# SPDX-License-Identifier: BSD-3-Clause
#
# The tests: what they share, then the parts.
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_T_LOG_DRIVER_FLAGS = --comments
check_LTLIBRARIES += t/libtap.la
t_libtap_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -DTSAN_SUPPRESSIONS='"$(abs_top_srcdir)/t/tsan.supp"'
t_libtap_la_SOURCES = \
	t/command.c t/command.h \
	t/ranks.c t/ranks.h \
	t/ranks_crew.h \
	t/ranks_merge.c \
	t/ranks_port.c t/ranks_port.h \
	t/ranks_report.c t/ranks_report.h \
	t/ranks_self.c t/ranks_self.h \
	t/ranks_spawn.c \
	t/ranks_threads.c \
	t/ranks_watch.c \
	t/talk.c t/talk.h \
	t/tap.c t/tap.h \
	t/torch.c t/torch.h \
	t/torch_points.c t/torch_points.h \
	tools/run/environment.c tools/run/environment.h \
	tools/run/families.c tools/run/families.h

# A unit test links all of libmuster's code; a test from the outside links lib/libmuster.la. Where nothing else
# is said t/NAME.t is a unit test and its source is t/NAME.c.
UNIT_LDADD = t/libtap.la lib/libmuster_all.la
GROUP_LDADD = t/libtap.la lib/libmuster.la
LDADD = $(UNIT_LDADD)
# A test in which memory runs out has its allocations go through t/scarce.c.
SCARCE_MEMORY = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup \
	-Wl,--wrap=asprintf,--wrap=open_memstream

# What several tests compile: slow and simple ways to the results of operations.
MODEL_SOURCES = t/model.c t/model.h t/slow_floats.c t/slow_floats.h
EXPECT_SOURCES = $(MODEL_SOURCES) t/collective_expect.c t/collective_expect.h \
	t/collective_rows.c t/collective_rows.h

check_PROGRAMS += t/harness.t
t_harness_t_SOURCES = t/harness.c t/harness_cases.c t/harness_cases.h

# Tests of what was built and of the tree itself; they use the tools that it was built with.
dist_check_SCRIPTS += \
	t/documents.sh.t \
	t/examples.sh.t \
	t/exports.sh.t \
	t/quickstart.sh.t \
	t/rooms.sh.t \
	t/slots_model.sh.t
EXTRA_DIST += t/model/slots.pml t/points.sh
AM_TESTS_ENVIRONMENT = CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; export CC CXX NM;

include t/plugins/local.mk
include t/units.mk
include t/machines.mk
include t/stores.mk
include t/groups.mk
include t/backends.mk
include t/nccl/local.mk
include t/standin/local.mk
include t/tools.mk
include t/gpu/local.mk
include t/fuzz/local.mk
include t/package/local.mk
include t/soak/local.mk
include t/topologies/local.mk

# The tests in other builds, each in a folder of its own below this one. TESTS="..." names some of the tests,
# as for check.
EXTRA_DIST += t/variants t/coverage t/format t/tsan.supp t/valgrind.supp
check-asan check-tsan check-valgrind:
	$(srcdir)/t/variants $(@:check-%=%)
coverage:
	$(srcdir)/t/variants coverage
check-format:
	$(srcdir)/t/format
# Tests with ranks or launchers start processes of their own, with time-outs that valgrind's slowness exceeds.
UNDER_TESTS = $(FUZZ_TARGETS) \
	t/backend_path.t t/error.t t/interface.t t/job_secret.t t/key_map.t t/layout.t t/machine_xml.t t/narrow.t \
	t/nearest.t t/options.t t/options_check.t t/rank_set.t t/roster.t t/slurm_nodes.t t/small_floats.t \
	t/store_hash.t t/store_prefix.t t/tcp_entry.t t/tcp_large.t t/tcp_protocol.t t/tcp_session.t t/url.t \
	t/version.t
check-under: $(UNDER_TESTS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$(UNDER_TESTS)"
.PHONY: check-asan check-tsan check-valgrind check-format check-under coverage
