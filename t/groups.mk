# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of groups from the outside.

# Tests of the gathers, from the outside.
noinst_LTLIBRARIES += t/libragged.la
t_libragged_la_SOURCES = \
	t/peak.c t/peak.h \
	t/ragged.c t/ragged.h \
	t/shapes.c t/shapes.h
GATHER_LDADD = t/libragged.la $(GROUP_LDADD)
check_PROGRAMS += t/gather_errors.t
t_gather_errors_t_SOURCES = t/gather_errors.c
t_gather_errors_t_LDADD = $(GATHER_LDADD)
check_PROGRAMS += t/gather_failures.t
t_gather_failures_t_SOURCES = t/gather_failures.c
t_gather_failures_t_LDADD = $(GATHER_LDADD)
if WIDE
check_PROGRAMS += t/gather_large.t
endif
t_gather_large_t_SOURCES = t/gather_large.c
t_gather_large_t_LDADD = $(GATHER_LDADD)
check_PROGRAMS += t/gather_objects.t
t_gather_objects_t_SOURCES = t/gather_objects.c
t_gather_objects_t_LDADD = $(GATHER_LDADD)
check_PROGRAMS += t/gather_property.t
t_gather_property_t_SOURCES = t/gather_property.c
t_gather_property_t_LDADD = $(GATHER_LDADD)
check_PROGRAMS += t/gather_starved.t
t_gather_starved_t_SOURCES = t/gather_starved.c
t_gather_starved_t_CPPFLAGS = $(AM_CPPFLAGS) -DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"'
t_gather_starved_t_LDADD = t/libragged.la $(UNIT_LDADD)
t_gather_starved_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=narrow_write_unsigned
check_PROGRAMS += t/gather_wire.t
t_gather_wire_t_SOURCES = t/gather_wire.c
t_gather_wire_t_LDADD = $(GATHER_LDADD)
t_gather_wire_t_CPPFLAGS = $(AM_CPPFLAGS) -DPROMPTS='"$(abs_srcdir)/t/data/gsm8k_test_prompts.jsonl"'
EXTRA_DIST += t/data/gsm8k_test_prompts.jsonl t/data/GSM8K-LICENSE
check_PROGRAMS += t/gather_tokens.t
t_gather_tokens_t_SOURCES = t/gather_tokens.c
t_gather_tokens_t_LDADD = $(GATHER_LDADD)
check_PROGRAMS += t/narrow.t
t_narrow_t_SOURCES = t/narrow.c
t_narrow_t_LDADD = $(UNIT_LDADD)

# groups and their operations
noinst_LTLIBRARIES += t/libgrouptest.la
t_libgrouptest_la_SOURCES = t/grouptest.c t/grouptest.h
check_PROGRAMS += t/group_failure.t t/group_process.t t/leak.t t/mismatch.t t/mismatch_gloo.t
check_PROGRAMS += t/collective.t t/init.t t/init_failures.t t/new_group.t t/subgroup.t
check_PROGRAMS += t/batch.t t/collective_arguments.t t/collective_model.t t/collective_model_gloo.t
if WIDE
check_PROGRAMS += t/collective_large.t
endif
t_batch_t_SOURCES = t/batch.c
t_batch_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_collective_arguments_t_SOURCES = t/collective_arguments.c
t_collective_arguments_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_collective_large_t_SOURCES = t/collective_large.c
t_collective_large_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_collective_model_t_SOURCES = t/collective_model.c t/collective_expect.c t/collective_expect.h \
	t/collective_rows.c t/collective_rows.h \
	t/model.c t/model.h t/slow_floats.c t/slow_floats.h
t_collective_model_t_LDADD = t/libgrouptest.la $(GROUP_LDADD) -lm
t_collective_model_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_collective_model_gloo_t_SOURCES = t/collective_model.c t/collective_expect.c t/collective_expect.h \
	t/collective_rows.c t/collective_rows.h \
	t/model.c t/model.h t/slow_floats.c t/slow_floats.h
t_collective_model_gloo_t_LDADD = t/libgrouptest.la $(GROUP_LDADD) -lm
t_collective_t_SOURCES = t/collective.c
t_collective_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
check_PROGRAMS += t/agree.t t/failure_matrix.t t/failure_matrix_gloo.t t/forked.t t/group_abort.t t/group_lost.t t/group_shrink.t \
	t/group_threads.t t/group_words.t
t_agree_t_SOURCES = t/agree.c
t_agree_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_failure_matrix_t_SOURCES = t/failure_matrix.c t/failure_rows.c t/failure_rows.h
t_failure_matrix_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_failure_matrix_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_failure_matrix_gloo_t_SOURCES = t/failure_matrix.c t/failure_rows.c t/failure_rows.h
t_failure_matrix_gloo_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_forked_t_SOURCES = t/forked.c
t_forked_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_threads_t_SOURCES = t/group_threads.c
t_group_threads_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_abort_t_SOURCES = t/group_abort.c
t_group_abort_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_lost_t_SOURCES = t/group_lost.c
t_group_lost_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
check_PROGRAMS += t/group_starved.t
t_group_starved_t_SOURCES = t/group_starved.c
t_group_starved_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_starved_t_CPPFLAGS = $(GLOO_CPPFLAGS)
t_group_words_t_SOURCES = t/group_words.c
t_group_words_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_shrink_t_SOURCES = t/group_shrink.c
t_group_shrink_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_failure_t_SOURCES = t/group_failure.c
t_group_failure_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_group_process_t_SOURCES = t/group_process.c
t_group_process_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_leak_t_SOURCES = t/leak.c
t_leak_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_mismatch_t_SOURCES = t/mismatch.c
t_mismatch_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_mismatch_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_mismatch_gloo_t_SOURCES = t/mismatch.c
t_mismatch_gloo_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_init_t_SOURCES = t/init.c
t_init_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_new_group_t_SOURCES = t/new_group.c
t_new_group_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_subgroup_t_SOURCES = t/subgroup.c
t_subgroup_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_init_failures_t_SOURCES = t/init_failures.c
t_init_failures_t_LDADD = t/libgrouptest.la $(GROUP_LDADD)
t_init_failures_t_CPPFLAGS = $(AM_CPPFLAGS) -DPLUGINS='"$(abs_builddir)/t/plugins"'

# device memory, on the stand-in
if WIDE
noinst_LTLIBRARIES += t/libgpu.la
t_libgpu_la_SOURCES = t/gpu_memory.c t/gpu_memory.h
GPU_LDADD = t/libgpu.la t/libstandin.la t/libgrouptest.la $(GROUP_LDADD)
check_PROGRAMS += t/device_agree.t t/device_collectives.t t/device_groups.t t/device_hangs.t t/device_routes.t
t_device_agree_t_SOURCES = t/device_agree.c
t_device_agree_t_LDADD = $(GPU_LDADD)
t_device_collectives_t_SOURCES = t/collective_expect.c t/collective_expect.h t/collective_rows.c \
	t/collective_rows.h t/device_collectives.c t/model.c t/model.h t/slow_floats.c t/slow_floats.h
t_device_collectives_t_LDADD = $(GPU_LDADD) -lm
t_device_groups_t_SOURCES = t/device_groups.c
t_device_groups_t_LDADD = $(GPU_LDADD)
t_device_hangs_t_SOURCES = t/device_hangs.c
t_device_hangs_t_LDADD = $(GPU_LDADD)
check_PROGRAMS += t/group_placement.t
t_group_placement_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_group_placement_t_SOURCES = t/group_placement.c
t_group_placement_t_LDADD = $(GPU_LDADD)
t_device_routes_t_SOURCES = t/device_routes.c
t_device_routes_t_LDADD = $(GPU_LDADD)
endif
