# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of the backends for host memory.

# the local backend's messages, life and death
check_LTLIBRARIES += t/liblocal_ranks.la
check_PROGRAMS += \
	t/local_failures.t \
	t/local_messages.t \
	t/local_open.t \
	t/local_refused.t
LOCAL_LDADD = t/liblocal_ranks.la $(UNIT_LDADD)
LOCAL_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/backends/local
if SANITIZED
LOCAL_CPPFLAGS += -DSANITIZED
endif
t_liblocal_ranks_la_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_liblocal_ranks_la_SOURCES = t/backend_ranks.c t/backend_ranks.h
t_local_failures_t_SOURCES = t/backend_failures.c
t_local_failures_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_local_failures_t_LDADD = $(LOCAL_LDADD)
t_local_messages_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_local_messages_t_LDADD = $(LOCAL_LDADD)
OPENING_SOURCES = t/opening.c t/opening.h
LOCAL_OPENING_SOURCES = $(OPENING_SOURCES) t/local_left.c t/local_left.h
t_local_open_t_SOURCES = t/local_open.c $(LOCAL_OPENING_SOURCES)
t_local_open_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_local_open_t_LDADD = $(LOCAL_LDADD)
t_local_refused_t_SOURCES = t/local_refused.c t/filter.h $(LOCAL_OPENING_SOURCES)
t_local_refused_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_local_refused_t_LDADD = $(LOCAL_LDADD)

# the gloo backend
check_LTLIBRARIES += t/libgloo_ranks.la
check_PROGRAMS += \
	t/forming_deaths.t \
	t/gloo_failures.t \
	t/gloo_memory.t \
	t/gloo_messages.t \
	t/gloo_open.t \
	t/gloo_strangers.t
GLOO_LDADD = t/libgloo_ranks.la $(UNIT_LDADD)
GLOO_CPPFLAGS = $(AM_CPPFLAGS) \
	-DT_GLOO_PLUGIN='"$(abs_builddir)/backends/gloo/.libs/muster_gloo.so"'
if SANITIZED
GLOO_CPPFLAGS += -DSANITIZED
endif
t_libgloo_ranks_la_CPPFLAGS = $(GLOO_CPPFLAGS)
t_libgloo_ranks_la_SOURCES = t/backend_ranks.c t/backend_ranks.h
t_forming_deaths_t_LDADD = $(GROUPTEST_LDADD)
t_gloo_failures_t_SOURCES = t/backend_failures.c
t_gloo_failures_t_CPPFLAGS = $(GLOO_CPPFLAGS)
t_gloo_failures_t_LDADD = $(GLOO_LDADD)
t_gloo_memory_t_CPPFLAGS = $(GLOO_CPPFLAGS)
t_gloo_memory_t_LDADD = $(GLOO_LDADD)
t_gloo_messages_t_LDADD = $(GLOO_LDADD)
t_gloo_open_t_SOURCES = t/gloo_open.c $(OPENING_SOURCES)
t_gloo_open_t_CPPFLAGS = $(GLOO_CPPFLAGS)
t_gloo_open_t_LDADD = $(GLOO_LDADD)
t_gloo_strangers_t_SOURCES = t/gloo_strangers.c t/strangers.c t/strangers.h
t_gloo_strangers_t_LDADD = $(GROUPTEST_LDADD)
