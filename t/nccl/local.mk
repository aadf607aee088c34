# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the nccl backend.

# loading NCCL and CUDA
if NCCL
check_PROGRAMS += \
	t/cuda_abi.t \
	t/nccl_abi.t \
	t/nccl_api.t \
	t/nccl_config.t \
	t/nccl_device.t \
	t/nccl_probe.t \
	t/nccl_versions.t
endif
NCCL_CPPFLAGS_T = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
NCCL_LDADD = backends/nccl/libnccl_all.la $(UNIT_LDADD)
# NVIDIA's headers do not pass our warnings.
t_cuda_abi_t_CPPFLAGS = $(NCCL_CPPFLAGS_T) $(CUDA_CFLAGS)
t_cuda_abi_t_CFLAGS = $(AM_CFLAGS) -Wno-error -w
t_cuda_abi_t_LDADD = $(NCCL_LDADD)
t_nccl_abi_t_CPPFLAGS = $(NCCL_CPPFLAGS_T) $(NCCL_CFLAGS) $(CUDA_CFLAGS)
t_nccl_abi_t_CFLAGS = $(AM_CFLAGS) -Wno-error -w
t_nccl_abi_t_LDADD = $(NCCL_LDADD)
t_nccl_api_t_CPPFLAGS = $(NCCL_CPPFLAGS_T)
t_nccl_api_t_LDADD = $(NCCL_LDADD)
t_nccl_config_t_CPPFLAGS = $(NCCL_CPPFLAGS_T)
t_nccl_config_t_LDADD = $(NCCL_LDADD)
t_nccl_device_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_nccl_device_t_LDADD = t/libstandin.la $(NCCL_LDADD)
# Libraries under the names of NVIDIA's.
if NCCL
check_LTLIBRARIES += \
	t/nccl/driver.la \
	t/nccl/driver_short.la \
	t/nccl/runtime13.la \
	t/nccl/runtime12.la \
	t/nccl/runtime11.la \
	t/nccl/runtime_short.la \
	t/nccl/nccl.la \
	t/nccl/nccl_short.la
endif
t_nccl_driver_la_SOURCES = t/nccl/stub.c
t_nccl_driver_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_DRIVER
t_nccl_driver_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_driver_short_la_SOURCES = t/nccl/stub.c
t_nccl_driver_short_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_DRIVER -DSTUB_LACKS
t_nccl_driver_short_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_runtime13_la_SOURCES = t/nccl/stub.c
t_nccl_runtime13_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_RUNTIME=13000
t_nccl_runtime13_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_runtime12_la_SOURCES = t/nccl/stub.c
t_nccl_runtime12_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_RUNTIME=12040
t_nccl_runtime12_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_runtime11_la_SOURCES = t/nccl/stub.c
t_nccl_runtime11_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_RUNTIME=11080
t_nccl_runtime11_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_runtime_short_la_SOURCES = t/nccl/stub.c
t_nccl_runtime_short_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_RUNTIME=13000 -DSTUB_LACKS
t_nccl_runtime_short_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_nccl_la_SOURCES = t/nccl/stub.c
t_nccl_nccl_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_NCCL
t_nccl_nccl_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_nccl_short_la_SOURCES = t/nccl/stub.c
t_nccl_nccl_short_la_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUB_NCCL -DSTUB_LACKS
t_nccl_nccl_short_la_LDFLAGS = $(PLUGIN_LDFLAGS)
t_nccl_probe_t_CPPFLAGS = $(NCCL_CPPFLAGS_T) -DSTUBS='"$(abs_builddir)/t/nccl/.libs"' \
	-DTOOLKIT_STUB='"/usr/local/cuda/lib64/stubs/libcuda.so"'
t_nccl_probe_t_LDADD = $(NCCL_LDADD)
t_nccl_versions_t_CPPFLAGS = $(NCCL_CPPFLAGS_T)
t_nccl_versions_t_LDADD = $(NCCL_LDADD)

# communicators, over the stand-in
if NCCL
check_LTLIBRARIES += t/libnccl_ranks.la
check_PROGRAMS += \
	t/nccl_comm.t \
	t/nccl_comm_failures.t \
	t/nccl_comm_model.t \
	t/nccl_comm_opening.t \
	t/nccl_identity.t \
	t/nccl_loads.t \
	t/nccl_owner.t
endif
NCCL_RANKS_CPPFLAGS = $(AM_CPPFLAGS) \
	-DT_NCCL_PLUGIN='"$(abs_builddir)/backends/nccl/.libs/muster_nccl.so"'
NCCL_RANKS_LDADD = t/libnccl_ranks.la t/libstandin.la $(UNIT_LDADD)
t_libnccl_ranks_la_CPPFLAGS = $(NCCL_RANKS_CPPFLAGS)
t_libnccl_ranks_la_SOURCES = t/nccl_ranks.c t/nccl_ranks.h
t_nccl_comm_failures_t_LDADD = $(NCCL_RANKS_LDADD)
t_nccl_comm_model_t_SOURCES = t/nccl_comm_model.c $(EXPECT_SOURCES)
t_nccl_comm_model_t_LDADD = $(NCCL_RANKS_LDADD) -lm
t_nccl_comm_opening_t_LDADD = $(NCCL_RANKS_LDADD)
t_nccl_comm_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_nccl_comm_t_LDADD = $(NCCL_RANKS_LDADD)
t_nccl_loads_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_nccl_loads_t_LDADD = $(NCCL_LDADD)
t_nccl_identity_t_SOURCES = t/nccl_identity.c t/slow_floats.c t/slow_floats.h
t_nccl_identity_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_nccl_identity_t_LDADD = $(NCCL_LDADD) -lm
t_nccl_owner_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
t_nccl_owner_t_LDADD = $(NCCL_LDADD)
