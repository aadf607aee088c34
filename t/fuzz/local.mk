# SPDX-License-Identifier: BSD-3-Clause
#
# Fuzz targets, one file a target. With --enable-fuzzing they are programs of libFuzzer, else tests that
# replay the corpus.
EXTRA_DIST += t/fuzz/run t/fuzz/corpus
EXTRA_DIST += t/fuzz/exchange.dict t/fuzz/interface.dict t/fuzz/options.dict t/fuzz/pmi1.dict \
	t/fuzz/places.dict t/fuzz/prompts.dict t/fuzz/rank_record.dict t/fuzz/seats.dict \
	t/fuzz/slurm_nodes.dict t/fuzz/store_query.dict t/fuzz/store_server.dict t/fuzz/topology.dict \
	t/fuzz/url.dict t/fuzz/version.dict
if FUZZING
noinst_PROGRAMS = $(FUZZ_TARGETS)
else
check_PROGRAMS += $(FUZZ_TARGETS)
endif
FUZZ_TARGETS =
check_LTLIBRARIES += t/fuzz/libfuzz.la
t_fuzz_libfuzz_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t -DCORPUS='"$(abs_srcdir)/t/fuzz/corpus"'
t_fuzz_libfuzz_la_SOURCES = t/fuzz/fuzz.c t/fuzz/fuzz.h
if FUZZING
EXTRA_DIST += t/fuzz/replay.c
else
t_fuzz_libfuzz_la_SOURCES += t/fuzz/replay.c
endif
if FUZZING
fuzz: $(FUZZ_TARGETS)
	$(srcdir)/t/fuzz/run --seconds=$(FUZZ_SECONDS)
else
fuzz:
	@echo "make fuzz needs a build folder of its own: configure --enable-fuzzing CC=clang CXX=clang++" >&2; false
endif
FUZZ_SECONDS = 600
.PHONY: fuzz
FUZZ_LINK = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
FUZZ_LDADD = t/fuzz/libfuzz.la $(UNIT_LDADD)
FUZZ_TARGETS += \
	t/fuzz/cards.t \
	t/fuzz/envelope.t \
	t/fuzz/exchange.t \
	t/fuzz/file_log.t \
	t/fuzz/gather.t \
	t/fuzz/interface.t \
	t/fuzz/letters.t \
	t/fuzz/options.t \
	t/fuzz/places.t \
	t/fuzz/pmi1.t \
	t/fuzz/rank_record.t \
	t/fuzz/seats.t \
	t/fuzz/slurm_nodes.t \
	t/fuzz/store_client.t \
	t/fuzz/store_entry.t \
	t/fuzz/store_keys.t \
	t/fuzz/store_query.t \
	t/fuzz/store_server.t \
	t/fuzz/url.t \
	t/fuzz/version.t
t_fuzz_cards_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_fuzz_cards_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_cards_t_LDADD = $(FUZZ_LDADD)
t_fuzz_envelope_t_LDFLAGS = $(FUZZ_LINK) -Wl,--wrap=failure_raise
t_fuzz_envelope_t_LDADD = $(FUZZ_LDADD)
t_fuzz_exchange_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_exchange_t_LDADD = $(FUZZ_LDADD)
t_fuzz_file_log_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_file_log_t_LDADD = $(FUZZ_LDADD)
t_fuzz_gather_t_LDFLAGS = $(FUZZ_LINK) \
	-Wl,--wrap=compose_all_gather,--wrap=compose_all_gather_equal,--wrap=compose_gather \
	-Wl,--wrap=failure_raise,--wrap=group_error,--wrap=group_ready
t_fuzz_gather_t_LDADD = $(FUZZ_LDADD)
t_fuzz_interface_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_interface_t_LDADD = $(FUZZ_LDADD)
t_fuzz_letters_t_CPPFLAGS = $(LOCAL_CPPFLAGS)
t_fuzz_letters_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_letters_t_LDADD = $(FUZZ_LDADD)
t_fuzz_options_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_options_t_LDADD = $(FUZZ_LDADD)
t_fuzz_places_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_places_t_LDADD = $(FUZZ_LDADD)
t_fuzz_pmi1_t_LDFLAGS = $(FUZZ_LINK) -Wl,--wrap=socket_send
t_fuzz_pmi1_t_LDADD = $(FUZZ_LDADD)
t_fuzz_rank_record_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_rank_record_t_LDADD = $(FUZZ_LDADD)
t_fuzz_seats_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_seats_t_LDADD = $(FUZZ_LDADD)
t_fuzz_slurm_nodes_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_slurm_nodes_t_LDADD = $(FUZZ_LDADD)
t_fuzz_store_client_t_LDFLAGS = $(FUZZ_LINK) \
	-Wl,--wrap=job_secret_draw \
	-Wl,--wrap=socket_back_off,--wrap=socket_connect
t_fuzz_store_client_t_LDADD = $(FUZZ_LDADD)
t_fuzz_store_entry_t_LDFLAGS = $(FUZZ_LINK) -Wl,--wrap=job_secret_draw
t_fuzz_store_entry_t_LDADD = $(FUZZ_LDADD)
t_fuzz_store_keys_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_store_keys_t_LDADD = $(FUZZ_LDADD)
t_fuzz_store_query_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_store_query_t_LDADD = $(FUZZ_LDADD)
t_fuzz_store_server_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_store_server_t_LDADD = $(FUZZ_LDADD)
t_fuzz_url_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_url_t_LDADD = $(FUZZ_LDADD)
t_fuzz_version_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_version_t_LDADD = $(FUZZ_LDADD)
if HWLOC
FUZZ_TARGETS += t/fuzz/topology.t t/fuzz/topology-plain.t
endif
t_fuzz_topology_t_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
t_fuzz_topology_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_topology_t_LDADD = $(FUZZ_LDADD) $(HWLOC_LIBS)
t_fuzz_topology_plain_t_SOURCES = t/fuzz/topology.c
t_fuzz_topology_plain_t_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) -DPLAIN
t_fuzz_topology_plain_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_topology_plain_t_LDADD = $(FUZZ_LDADD) $(HWLOC_LIBS)
if TOOLS
FUZZ_TARGETS += t/fuzz/prompts.t
endif
t_fuzz_prompts_t_CPPFLAGS = $(TOOLS_CPPFLAGS)
t_fuzz_prompts_t_LDFLAGS = $(FUZZ_LINK)
t_fuzz_prompts_t_LDADD = t/fuzz/libfuzz.la tools/libtools.la $(UNIT_LDADD) $(JANSSON_LIBS)
