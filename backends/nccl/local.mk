# SPDX-License-Identifier: BSD-3-Clause
#
# The nccl backend. A plugin, as gloo is. It links nothing of NVIDIA's: it opens NCCL, CUDA and the driver
# when it runs. All code is in a convenience library, which tests link to reach what is hidden.
if NCCL
noinst_LTLIBRARIES += backends/nccl/libnccl_all.la
backends_LTLIBRARIES += backends/nccl/muster_nccl.la
endif
backends_nccl_libnccl_all_la_SOURCES = \
	lib/base/patience.c lib/base/patience.h \
	lib/base/process.c lib/base/process.h \
	lib/base/thread.c lib/base/thread.h \
	backends/nccl/birth.c backends/nccl/birth.h \
	backends/nccl/blocks.c \
	backends/nccl/comm.c backends/nccl/comm.h \
	backends/nccl/cuda_abi.h \
	backends/nccl/cuda_api.c backends/nccl/cuda_api.h \
	backends/nccl/cuda_functions.c \
	backends/nccl/cuda_load.c backends/nccl/cuda_load.h \
	backends/nccl/device.c backends/nccl/device.h \
	backends/nccl/device_copy.c \
	backends/nccl/device_memory.c backends/nccl/device_memory.h \
	backends/nccl/ending.c backends/nccl/ending.h \
	backends/nccl/errand.c backends/nccl/errand.h \
	backends/nccl/failure.c backends/nccl/failure.h \
	backends/nccl/identity.c backends/nccl/identity.h \
	backends/nccl/job.c backends/nccl/job.h \
	backends/nccl/keeper.c backends/nccl/keeper.h \
	backends/nccl/library.c backends/nccl/library.h \
	backends/nccl/loads.c backends/nccl/loads.h \
	backends/nccl/memory_pool.c backends/nccl/memory_pool.h \
	backends/nccl/nccl_abi.h \
	backends/nccl/nccl_api.c backends/nccl/nccl_api.h \
	backends/nccl/nccl_config.c backends/nccl/nccl_config.h \
	backends/nccl/nccl_functions.c \
	backends/nccl/open.c \
	backends/nccl/operation.c backends/nccl/operation.h \
	backends/nccl/options.c backends/nccl/options.h \
	backends/nccl/owner.c backends/nccl/owner.h \
	backends/nccl/pause.c backends/nccl/pause.h \
	backends/nccl/probe.c backends/nccl/probe.h \
	backends/nccl/request.c backends/nccl/request.h \
	backends/nccl/scratch.c backends/nccl/scratch.h \
	backends/nccl/steps.c backends/nccl/steps.h \
	backends/nccl/transfers.c \
	backends/nccl/types.c backends/nccl/types.h \
	backends/nccl/wait.c
backends_nccl_muster_nccl_la_SOURCES = backends/nccl/backend.c
backends_nccl_muster_nccl_la_LIBADD = backends/nccl/libnccl_all.la
backends_nccl_muster_nccl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined
EXTRA_backends_nccl_muster_nccl_la_DEPENDENCIES = $(srcdir)/backends/nccl/muster_nccl.map
EXTRA_DIST += backends/nccl/muster_nccl.map
if HAVE_VERSION_SCRIPT
backends_nccl_muster_nccl_la_LDFLAGS += \
	-Wl,--version-script,$(srcdir)/backends/nccl/muster_nccl.map
endif
