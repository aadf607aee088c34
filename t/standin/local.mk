# SPDX-License-Identifier: BSD-3-Clause
#
# The stand-in for hardware: a driver, runtimes and NCCLs for tests alone, one library for each version, of
# the same objects and the names that the version has.
if WIDE
STANDIN_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/nccl
# LeakSanitizer looks into what threads that live have in thread-local storage, and crashes on that of libraries
# which were opened later, unless it lies with the program's own.
STANDIN_CUDA_CPPFLAGS = $(STANDIN_CPPFLAGS)
if SANITIZED
STANDIN_CUDA_CPPFLAGS += -ftls-model=initial-exec
endif
STANDIN_LDFLAGS = $(PLUGIN_LDFLAGS) -no-undefined
check_LTLIBRARIES += t/libstandin.la
t_libstandin_la_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS) -DSTANDIN_FOLDER='"$(abs_builddir)/t/standin/.libs"'
t_libstandin_la_SOURCES = \
	t/standin.c t/standin.h \
	t/standin_api.c t/standin_api.h \
	t/standin_nccl.c t/standin_nccl.h
STANDIN_TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends
STANDIN_LDADD = t/libstandin.la $(GROUP_LDADD)
check_PROGRAMS += \
	t/standin_collectives.t \
	t/standin_devices.t \
	t/standin_faults.t \
	t/standin_likeness.t \
	t/standin_manners.t \
	t/standin_streams.t \
	t/standin_versions.t
t_standin_collectives_t_SOURCES = $(MODEL_SOURCES) t/standin_collectives.c
t_standin_collectives_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_collectives_t_LDADD = $(STANDIN_LDADD) -lm
t_standin_devices_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_devices_t_LDADD = $(STANDIN_LDADD)
t_standin_faults_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_faults_t_LDADD = $(STANDIN_LDADD)
t_standin_likeness_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_likeness_t_LDADD = $(STANDIN_LDADD)
t_standin_manners_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_manners_t_LDADD = $(STANDIN_LDADD)
t_standin_streams_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_streams_t_LDADD = $(STANDIN_LDADD)
t_standin_versions_t_CPPFLAGS = $(STANDIN_TEST_CPPFLAGS)
t_standin_versions_t_LDADD = $(STANDIN_LDADD)

check_LTLIBRARIES += t/standin/libcuda.la
t_standin_libcuda_la_CPPFLAGS = $(STANDIN_CUDA_CPPFLAGS)
t_standin_libcuda_la_LDFLAGS = $(STANDIN_LDFLAGS)
t_standin_libcuda_la_SOURCES = \
	t/standin/devices.c t/standin/devices.h \
	t/standin/driver.c t/standin/driver.h \
	t/standin/driver_api.c \
	t/standin/driver_state.h \
	t/standin/fault.c t/standin/fault.h \
	t/standin/memory.c t/standin/memory.h \
	t/standin/stream.c t/standin/stream.h

check_LTLIBRARIES += \
	t/standin/libcudart-all.la \
	t/standin/libcudart-11.la \
	t/standin/libcudart-12.la \
	t/standin/libcudart-13.la
t_standin_libcudart_all_la_CPPFLAGS = $(STANDIN_CUDA_CPPFLAGS)
t_standin_libcudart_all_la_SOURCES = \
	t/standin/driver_find.c \
	t/standin/fault.c t/standin/fault.h \
	t/standin/runtime.c t/standin/runtime.h \
	t/standin/runtime_memory.c \
	t/standin/runtime_stream.c
t_standin_libcudart_11_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_RUNTIME_VERSION=11080
t_standin_libcudart_11_la_LDFLAGS = $(STANDIN_LDFLAGS)
t_standin_libcudart_11_la_LIBADD = t/standin/libcudart-all.la
t_standin_libcudart_11_la_SOURCES = t/standin/runtime_version.c
t_standin_libcudart_12_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_RUNTIME_VERSION=12040
t_standin_libcudart_12_la_LDFLAGS = $(STANDIN_LDFLAGS)
t_standin_libcudart_12_la_LIBADD = t/standin/libcudart-all.la
t_standin_libcudart_12_la_SOURCES = t/standin/runtime_version.c
t_standin_libcudart_13_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_RUNTIME_VERSION=13000
t_standin_libcudart_13_la_LDFLAGS = $(STANDIN_LDFLAGS)
t_standin_libcudart_13_la_LIBADD = t/standin/libcudart-all.la
t_standin_libcudart_13_la_SOURCES = t/standin/runtime_version.c

check_LTLIBRARIES += \
	t/standin/libnccl-all.la \
	t/standin/libnccl-2.13.la \
	t/standin/libnccl-2.14.la \
	t/standin/libnccl-2.18.la \
	t/standin/libnccl-2.23.la \
	t/standin/libnccl-2.28.la \
	t/standin/libnccl-2.30.la
t_standin_libnccl_all_la_CPPFLAGS = $(STANDIN_CPPFLAGS)
t_standin_libnccl_all_la_LIBADD = lib/libreduce.la
t_standin_libnccl_all_la_SOURCES = \
	lib/base/error.c \
	t/standin/driver_find.c \
	t/standin/fault.c t/standin/fault.h \
	t/standin/nccl_calls.c \
	t/standin/nccl_comm.c t/standin/nccl_comm.h \
	t/standin/nccl_config.c t/standin/nccl_config.h \
	t/standin/nccl_end.c \
	t/standin/nccl_group.c t/standin/nccl_group.h \
	t/standin/nccl_init.c t/standin/nccl_init.h \
	t/standin/nccl_launch.c \
	t/standin/nccl_meet.c t/standin/nccl_meet.h \
	t/standin/nccl_operation.c t/standin/nccl_operation.h \
	t/standin/nccl_reduce.c t/standin/nccl_reduce.h \
	t/standin/nccl_register.c \
	t/standin/nccl_split.c \
	t/standin/nccl_wire.c t/standin/nccl_wire.h
EXTRA_DIST += t/standin/nccl_functions.txt
NCCL_NAMES = t/standin/2.13.names t/standin/2.14.names t/standin/2.18.names t/standin/2.23.names \
	t/standin/2.28.names t/standin/2.30.names
CLEANFILES += $(NCCL_NAMES)
$(NCCL_NAMES): t/standin/nccl_functions.txt
	$(AM_V_GEN)$(MKDIR_P) t/standin && \
	$(AWK) '$$1 <= version { print $$2 }' version=`basename $@ .names` \
	  $(srcdir)/t/standin/nccl_functions.txt >$@.new && mv $@.new $@
t_standin_libnccl_2_13_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=21304
t_standin_libnccl_2_13_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.13.names
t_standin_libnccl_2_13_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_13_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_13_la_DEPENDENCIES = t/standin/2.13.names
t_standin_libnccl_2_14_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=21403
t_standin_libnccl_2_14_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.14.names
t_standin_libnccl_2_14_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_14_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_14_la_DEPENDENCIES = t/standin/2.14.names
t_standin_libnccl_2_18_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=21805
t_standin_libnccl_2_18_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.18.names
t_standin_libnccl_2_18_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_18_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_18_la_DEPENDENCIES = t/standin/2.18.names
t_standin_libnccl_2_23_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=22304
t_standin_libnccl_2_23_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.23.names
t_standin_libnccl_2_23_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_23_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_23_la_DEPENDENCIES = t/standin/2.23.names
t_standin_libnccl_2_28_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=22809
t_standin_libnccl_2_28_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.28.names
t_standin_libnccl_2_28_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_28_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_28_la_DEPENDENCIES = t/standin/2.28.names
t_standin_libnccl_2_30_la_CPPFLAGS = $(STANDIN_CPPFLAGS) -DSTANDIN_NCCL_VERSION=23007
t_standin_libnccl_2_30_la_LDFLAGS = $(STANDIN_LDFLAGS) -export-symbols t/standin/2.30.names
t_standin_libnccl_2_30_la_LIBADD = t/standin/libnccl-all.la
t_standin_libnccl_2_30_la_SOURCES = t/standin/nccl_version.c
EXTRA_t_standin_libnccl_2_30_la_DEPENDENCIES = t/standin/2.30.names
endif
