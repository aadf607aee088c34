# SPDX-License-Identifier: BSD-3-Clause
#
# Programs of t/gpu/run, for a machine with GPUs. They are no tests by themselves: `make check` builds them
# as data.
EXTRA_DIST += t/gpu/run
dist_check_SCRIPTS += t/gpu_run.sh.t
if NCCL
GPU_TOOLS = t/gpu/collectives t/gpu/overhead t/gpu/pair t/gpu/probe t/gpu/sharing t/gpu/streams
EXTRA_PROGRAMS += $(GPU_TOOLS)
check_DATA += $(GPU_TOOLS)
CLEANFILES += $(GPU_TOOLS)
endif
GPU_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t -I$(top_srcdir)/backends
GPU_COMMON = t/gpu/common.c t/gpu/common.h
t_gpu_collectives_CPPFLAGS = $(GPU_CPPFLAGS)
t_gpu_collectives_SOURCES = $(GPU_COMMON) t/gpu/collectives.c t/gpu/mild.c t/gpu/mild.h $(EXPECT_SOURCES)
t_gpu_collectives_LDADD = $(GPU_LDADD) -lm
t_gpu_overhead_CPPFLAGS = $(GPU_CPPFLAGS)
t_gpu_overhead_SOURCES = $(GPU_COMMON) t/gpu/overhead.c
t_gpu_overhead_LDADD = $(GPU_LDADD)
t_gpu_pair_CPPFLAGS = $(GPU_CPPFLAGS)
t_gpu_pair_SOURCES = $(GPU_COMMON) t/gpu/pair.c
t_gpu_pair_LDADD = t/libgrouptest.la $(NCCL_RANKS_LDADD)
t_gpu_probe_CPPFLAGS = $(GPU_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_gpu_probe_SOURCES = $(GPU_COMMON) t/gpu/probe.c
t_gpu_probe_LDADD = t/libgrouptest.la $(NCCL_LDADD)
t_gpu_sharing_CPPFLAGS = $(GPU_CPPFLAGS)
t_gpu_sharing_SOURCES = $(GPU_COMMON) t/gpu/sharing.c
t_gpu_sharing_LDADD = $(GPU_LDADD)
t_gpu_streams_CPPFLAGS = $(GPU_CPPFLAGS)
t_gpu_streams_SOURCES = $(GPU_COMMON) t/gpu/streams.c
t_gpu_streams_LDADD = $(GPU_LDADD)
