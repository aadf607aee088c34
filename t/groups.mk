# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of groups from the outside.

# gathers
check_LTLIBRARIES += t/libragged.la
t_libragged_la_SOURCES = \
	t/peak.c t/peak.h \
	t/ragged.c t/ragged.h \
	t/shapes.c t/shapes.h
GATHER_LDADD = t/libragged.la $(GROUP_LDADD)
check_PROGRAMS += \
	t/gather_errors.t \
	t/gather_failures.t \
	t/gather_objects.t \
	t/gather_property.t \
	t/gather_starved.t \
	t/gather_tokens.t \
	t/gather_wire.t \
	t/narrow.t
t_gather_errors_t_LDADD = $(GATHER_LDADD)
t_gather_failures_t_LDADD = $(GATHER_LDADD)
if WIDE
check_PROGRAMS += t/gather_large.t
endif
t_gather_large_t_LDADD = $(GATHER_LDADD)
t_gather_objects_t_LDADD = $(GATHER_LDADD)
t_gather_property_t_LDADD = $(GATHER_LDADD)
t_gather_starved_t_CPPFLAGS = $(AM_CPPFLAGS) -DGLOO_FOLDER='"$(abs_builddir)/backends/gloo/.libs"'
t_gather_starved_t_LDADD = t/libragged.la $(UNIT_LDADD)
t_gather_starved_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=narrow_write_unsigned
t_gather_wire_t_CPPFLAGS = $(AM_CPPFLAGS) -DPROMPTS='"$(abs_srcdir)/t/data/gsm8k_test_prompts.jsonl"'
t_gather_wire_t_LDADD = $(GATHER_LDADD)
EXTRA_DIST += t/data/gsm8k_test_prompts.jsonl t/data/GSM8K-LICENSE
t_gather_tokens_t_LDADD = $(GATHER_LDADD)

# groups and their operations
check_LTLIBRARIES += t/libgrouptest.la
t_libgrouptest_la_SOURCES = t/grouptest.c t/grouptest.h
GROUPTEST_LDADD = t/libgrouptest.la $(GROUP_LDADD)
check_PROGRAMS += \
	t/agree.t \
	t/batch.t \
	t/collective.t \
	t/collective_arguments.t \
	t/collective_model.t \
	t/collective_model_gloo.t \
	t/failure_matrix.t \
	t/failure_matrix_gloo.t \
	t/forked.t \
	t/group_abort.t \
	t/group_failure.t \
	t/group_lost.t \
	t/group_memory.t \
	t/group_process.t \
	t/group_shrink.t \
	t/group_starved.t \
	t/group_threads.t \
	t/group_traffic.t \
	t/group_words.t \
	t/init.t \
	t/init_failures.t \
	t/leak.t \
	t/mismatch.t \
	t/mismatch_gloo.t \
	t/new_group.t \
	t/subgroup.t \
	t/timeout_beside.t
if WIDE
check_PROGRAMS += t/collective_large.t
endif
t_agree_t_LDADD = $(GROUPTEST_LDADD)
t_batch_t_LDADD = $(GROUPTEST_LDADD)
t_collective_arguments_t_LDADD = $(GROUPTEST_LDADD)
t_collective_large_t_LDADD = $(GROUPTEST_LDADD)
t_collective_model_gloo_t_SOURCES = t/collective_model.c $(EXPECT_SOURCES)
t_collective_model_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_collective_model_gloo_t_LDADD = $(GROUPTEST_LDADD) -lm
t_collective_model_t_SOURCES = t/collective_model.c $(EXPECT_SOURCES)
t_collective_model_t_LDADD = $(GROUPTEST_LDADD) -lm
t_collective_t_LDADD = $(GROUPTEST_LDADD)
t_failure_matrix_gloo_t_SOURCES = t/failure_matrix.c t/failure_rows.c t/failure_rows.h
t_failure_matrix_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_failure_matrix_gloo_t_LDADD = $(GROUPTEST_LDADD)
t_failure_matrix_t_SOURCES = t/failure_matrix.c t/failure_rows.c t/failure_rows.h
t_failure_matrix_t_LDADD = $(GROUPTEST_LDADD)
t_forked_t_LDADD = $(GROUPTEST_LDADD)
t_group_abort_t_LDADD = $(GROUPTEST_LDADD)
t_group_failure_t_LDADD = $(GROUPTEST_LDADD)
t_group_lost_t_LDADD = $(GROUPTEST_LDADD)
t_group_memory_t_SOURCES = t/group_memory.c t/filter.h
t_group_memory_t_LDADD = $(GROUPTEST_LDADD)
t_group_process_t_LDADD = $(GROUPTEST_LDADD)
t_group_shrink_t_LDADD = $(GROUPTEST_LDADD)
t_group_starved_t_CPPFLAGS = $(GLOO_CPPFLAGS)
t_group_starved_t_LDADD = $(GROUPTEST_LDADD)
t_group_threads_t_LDADD = $(GROUPTEST_LDADD)
t_group_traffic_t_LDADD = $(GROUPTEST_LDADD)
t_group_words_t_LDADD = $(GROUPTEST_LDADD)
t_init_failures_t_CPPFLAGS = $(PLUGINS_CPPFLAGS)
t_init_failures_t_LDADD = $(GROUPTEST_LDADD)
t_init_t_LDADD = $(GROUPTEST_LDADD)
t_leak_t_LDADD = $(GROUPTEST_LDADD)
t_mismatch_gloo_t_SOURCES = t/mismatch.c
t_mismatch_gloo_t_CPPFLAGS = $(AM_CPPFLAGS) -DOVER_GLOO
t_mismatch_gloo_t_LDADD = $(GROUPTEST_LDADD)
t_mismatch_t_LDADD = $(GROUPTEST_LDADD)
t_new_group_t_LDADD = $(GROUPTEST_LDADD)
t_subgroup_t_LDADD = $(GROUPTEST_LDADD)
t_timeout_beside_t_LDADD = $(GROUPTEST_LDADD)

# device memory, on the stand-in
if WIDE
check_LTLIBRARIES += t/libgpu.la
t_libgpu_la_SOURCES = t/gpu_memory.c t/gpu_memory.h
GPU_LDADD = t/libgpu.la t/libstandin.la $(GROUPTEST_LDADD)
check_PROGRAMS += \
	t/device_agree.t \
	t/device_collectives.t \
	t/device_groups.t \
	t/device_hangs.t \
	t/device_routes.t \
	t/group_placement.t
t_device_agree_t_LDADD = $(GPU_LDADD)
t_device_collectives_t_SOURCES = t/device_collectives.c $(EXPECT_SOURCES)
t_device_collectives_t_LDADD = $(GPU_LDADD) -lm
t_device_groups_t_LDADD = $(GPU_LDADD)
t_device_hangs_t_LDADD = $(GPU_LDADD)
t_device_routes_t_LDADD = $(GPU_LDADD)
t_group_placement_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_group_placement_t_LDADD = $(GPU_LDADD)
endif
