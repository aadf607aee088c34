# SPDX-License-Identifier: BSD-3-Clause
#
# The library, room by room. All code is in a convenience library, which tests link to reach what is
# hidden; the installed library is that with the symbols of the map alone.
noinst_LTLIBRARIES += lib/libmuster_all.la
lib_libmuster_all_la_CPPFLAGS = $(AM_CPPFLAGS) -DBACKENDSDIR='"$(backendsdir)"' $(HWLOC_CFLAGS) \
	$(PMIX_CFLAGS) $(SODIUM_CFLAGS)
lib_libmuster_all_la_LIBADD = $(HWLOC_LIBS) $(SODIUM_LIBS)
lib_libmuster_all_la_SOURCES =

# lib/base: what every room stands on: errors, time, threads, memory, versions
lib_libmuster_all_la_SOURCES += \
	lib/base/arguments.c lib/base/arguments.h \
	lib/base/blobs.c lib/base/blobs.h \
	lib/base/buffer.c lib/base/buffer.h \
	lib/base/counter.c lib/base/counter.h \
	lib/base/deadline.h \
	lib/base/error.c lib/base/error.h \
	lib/base/facts.c lib/base/facts.h \
	lib/base/fnv.h \
	lib/base/log.c lib/base/log.h \
	lib/base/namespace.c lib/base/namespace.h \
	lib/base/nearest.c lib/base/nearest.h \
	lib/base/patience.c lib/base/patience.h \
	lib/base/process.c lib/base/process.h \
	lib/base/process_stat.c lib/base/process_stat.h \
	lib/base/rank_set.c lib/base/rank_set.h \
	lib/base/shared_memory.c lib/base/shared_memory.h \
	lib/base/signals.c lib/base/signals.h \
	lib/base/thread.c lib/base/thread.h \
	lib/base/version.c lib/base/version.h

# lib/options: typed options that know versions
lib_libmuster_all_la_SOURCES += \
	lib/options/core_options.c lib/options/core_options.h \
	lib/options/option_table.c lib/options/option_table.h \
	lib/options/option_type.c lib/options/option_type.h \
	lib/options/options.c lib/options/options.h \
	lib/options/options_check.c lib/options/options_check.h \
	lib/options/options_collect.c \
	lib/options/options_names.c \
	lib/options/options_text.c

# lib/net: addresses, names, interfaces and sockets of this machine
lib_libmuster_all_la_SOURCES += \
	lib/net/host_identity.c lib/net/host_identity.h \
	lib/net/memory_access.c lib/net/memory_access.h \
	lib/net/interface.c lib/net/interface.h \
	lib/net/interface_grammar.c \
	lib/net/loopback.c lib/net/loopback.h \
	lib/net/name_lookup.c lib/net/name_lookup.h \
	lib/net/socket.c lib/net/socket.h \
	lib/net/socket_address.c \
	lib/net/socket_here.c lib/net/socket_here.h \
	lib/net/socket_listen.c \
	lib/net/socket_resolve.c \
	lib/net/url.c lib/net/url.h

# lib/placement: which rank of a host gets which device and which cores
lib_libmuster_all_la_SOURCES += \
	lib/placement/assign.c lib/placement/assign.h \
	lib/placement/binding.c lib/placement/binding.h \
	lib/placement/core_map.c lib/placement/core_map.h \
	lib/placement/crews.c lib/placement/crews.h \
	lib/placement/device_list.c lib/placement/device_list.h \
	lib/placement/distance.c lib/placement/distance.h \
	lib/placement/give_cores.c lib/placement/give_cores.h \
	lib/placement/give_devices.c lib/placement/give_devices.h \
	lib/placement/node_turns.c lib/placement/node_turns.h \
	lib/placement/place_list.c lib/placement/place_list.h \
	lib/placement/placement.c lib/placement/placement.h \
	lib/placement/placement_names.c \
	lib/placement/placement_words.c lib/placement/placement_words.h \
	lib/placement/plan.c \
	lib/placement/standing.c lib/placement/standing.h \
	lib/placement/standing_read.c \
	lib/placement/standing_write.c

# lib/store: key-value stores, and those in a file and in the process
lib_libmuster_all_la_SOURCES += \
	lib/store/file_log.c lib/store/file_log.h \
	lib/store/file_replay.c lib/store/file_replay.h \
	lib/store/key_map.c lib/store/key_map.h \
	lib/store/store.c lib/store/store.h \
	lib/store/store_file.c \
	lib/store/store_hash.c \
	lib/store/store_prefix.c \
	lib/store/value_map.c lib/store/value_map.h

# lib/tcp_store: the store on a tcp server, in the protocols of torch
lib_libmuster_all_la_SOURCES += \
	lib/tcp_store/job_secret.c lib/tcp_store/job_secret.h \
	lib/tcp_store/queue_map.c lib/tcp_store/queue_map.h \
	lib/tcp_store/store_tcp.c lib/tcp_store/store_tcp.h \
	lib/tcp_store/store_tcp_await.c \
	lib/tcp_store/store_tcp_open.c \
	lib/tcp_store/store_tcp_wait.c \
	lib/tcp_store/tcp_answers.c lib/tcp_store/tcp_answers.h \
	lib/tcp_store/tcp_change.c lib/tcp_store/tcp_change.h \
	lib/tcp_store/tcp_client.c lib/tcp_store/tcp_client.h \
	lib/tcp_store/tcp_client_secret.c lib/tcp_store/tcp_client_secret.h \
	lib/tcp_store/tcp_connection.c lib/tcp_store/tcp_connection.h \
	lib/tcp_store/tcp_door.c lib/tcp_store/tcp_door.h \
	lib/tcp_store/tcp_entry.c lib/tcp_store/tcp_entry.h \
	lib/tcp_store/tcp_greeting.c lib/tcp_store/tcp_greeting.h \
	lib/tcp_store/tcp_large.c lib/tcp_store/tcp_large.h \
	lib/tcp_store/tcp_loop.c lib/tcp_store/tcp_loop.h \
	lib/tcp_store/tcp_protocol.c lib/tcp_store/tcp_protocol.h \
	lib/tcp_store/tcp_server.c lib/tcp_store/tcp_server.h \
	lib/tcp_store/tcp_session.c lib/tcp_store/tcp_session.h \
	lib/tcp_store/tcp_waits.c lib/tcp_store/tcp_waits.h \
	lib/tcp_store/tcp_watches.c lib/tcp_store/tcp_watches.h

# lib/launch: who started this process, and where its ranks meet
lib_libmuster_all_la_SOURCES += \
	lib/launch/launcher.c lib/launch/launcher.h \
	lib/launch/launcher_report.c \
	lib/launch/launcher_table.c \
	lib/launch/meeting.c lib/launch/meeting.h \
	lib/launch/meeting_address.c lib/launch/meeting_address.h \
	lib/launch/meeting_choose.c \
	lib/launch/pmi1.c lib/launch/pmi1.h \
	lib/launch/pmix_abi.h \
	lib/launch/pmix_check.c \
	lib/launch/pmix_client.c lib/launch/pmix_client.h \
	lib/launch/rendezvous.c lib/launch/rendezvous.h \
	lib/launch/rendezvous_plan.c lib/launch/rendezvous_plan.h \
	lib/launch/report.c \
	lib/launch/slurm_nodes.c lib/launch/slurm_nodes.h

# lib/machine: CPUs, GPUs and network interfaces of this machine, as hwloc sees them
lib_libmuster_all_la_SOURCES += \
	lib/machine/cpu_set.c lib/machine/cpu_set.h lib/machine/cpu_set_text.c \
	lib/machine/describe_host.c \
	lib/machine/machine.c lib/machine/machine.h \
	lib/machine/machine_load.c \
	lib/machine/machine_nics_kernel.c lib/machine/machine_nics_kernel.h \
	lib/machine/machine_plain.c lib/machine/machine_plain.h \
	lib/machine/machine_xml.c lib/machine/machine_xml.h \
	lib/machine/machine_xml_grammar.c lib/machine/machine_xml_grammar.h \
	lib/machine/nic_near.c lib/machine/nic_near.h \
	lib/machine/visible_devices.c lib/machine/visible_devices.h
if HWLOC
lib_libmuster_all_la_SOURCES += \
	lib/machine/machine_cpus.c \
	lib/machine/machine_gpus.c \
	lib/machine/machine_hwloc.c lib/machine/machine_hwloc.h \
	lib/machine/machine_links.c \
	lib/machine/machine_nics.c \
	lib/machine/machine_place.c \
	lib/machine/quiet.c lib/machine/quiet.h
endif

# lib/backend: finding and opening backends; what they are given
lib_libmuster_all_la_SOURCES += \
	lib/backend/backend.c lib/backend/backend.h \
	lib/backend/backend_path.c lib/backend/backend_path.h \
	lib/backend/backend_plugin.c lib/backend/backend_plugin.h \
	lib/backend/backend_report.c \
	lib/backend/backend_scan.c lib/backend/backend_scan.h \
	lib/backend/device_memory.c lib/backend/device_memory.h \
	lib/backend/host.c lib/backend/host.h

# lib/group: process groups: how they are made, and how they fail
lib_libmuster_all_la_SOURCES += \
	lib/group/abort.c lib/group/abort.h \
	lib/group/bind.c lib/group/bind.h \
	lib/group/cause.c lib/group/cause.h \
	lib/group/choice.c lib/group/choice.h \
	lib/group/claim.c lib/group/claim.h \
	lib/group/describe.c \
	lib/group/devices.c lib/group/devices.h \
	lib/group/exchange.c lib/group/exchange.h lib/group/exchange_end.c \
	lib/group/failure.c lib/group/failure.h \
	lib/group/family.c lib/group/family.h \
	lib/group/forming.c lib/group/forming.h \
	lib/group/group.c lib/group/group.h \
	lib/group/group_device.c lib/group/group_device.h \
	lib/group/handshake.c lib/group/handshake.h \
	lib/group/handshake_address.c \
	lib/group/init.c lib/group/init.h \
	lib/group/local_rank.c lib/group/local_rank.h \
	lib/group/lookout.c lib/group/lookout.h \
	lib/group/loss.c lib/group/loss.h \
	lib/group/lost.c lib/group/lost.h \
	lib/group/making.c lib/group/making.h \
	lib/group/namesake.c lib/group/namesake.h \
	lib/group/near.c lib/group/near.h \
	lib/group/new_group.c \
	lib/group/opening.c lib/group/opening.h \
	lib/group/placement_of.c \
	lib/group/roster.c lib/group/roster.h lib/group/roster_place.c \
	lib/group/seat_ways.c lib/group/seat_ways.h \
	lib/group/seats.c lib/group/seats.h \
	lib/group/shrink.c \
	lib/group/split.c \
	lib/group/stand.c lib/group/stand.h \
	lib/group/stand_ways.c \
	lib/group/subgroup.c \
	lib/group/turn.c lib/group/turn.h \
	lib/group/vigil.c lib/group/vigil.h

# lib/collective: what groups do: operations, messages, gathers
lib_libmuster_all_la_SOURCES += \
	lib/collective/across.c lib/collective/across.h \
	lib/collective/agree.c lib/collective/agree.h \
	lib/collective/batch.c lib/collective/batch.h \
	lib/collective/batch_staged.c lib/collective/batch_staged.h \
	lib/collective/calls.c lib/collective/calls.h \
	lib/collective/collective.c lib/collective/collective.h \
	lib/collective/collective_check.c \
	lib/collective/collective_table.c \
	lib/collective/compose.c lib/collective/compose.h \
	lib/collective/compose_broadcast.c \
	lib/collective/compose_gather.c \
	lib/collective/compose_reduce.c \
	lib/collective/gather.c lib/collective/gather.h \
	lib/collective/gather_objects.c \
	lib/collective/gather_tokens.c \
	lib/collective/hierarchy.c lib/collective/hierarchy.h \
	lib/collective/label.c lib/collective/label.h \
	lib/collective/layout.c lib/collective/layout.h \
	lib/collective/message.c lib/collective/message.h \
	lib/collective/narrow.c lib/collective/narrow.h \
	lib/collective/native.c lib/collective/native.h \
	lib/collective/native_carry.c \
	lib/collective/native_idle.c \
	lib/collective/native_room.c lib/collective/native_room.h \
	lib/collective/native_transfers.c \
	lib/collective/padded_tokens.c \
	lib/collective/point_to_point.c \
	lib/collective/premul.c lib/collective/premul.h \
	lib/collective/route.c lib/collective/route.h \
	lib/collective/staged.c \
	lib/collective/staging.c lib/collective/staging.h \
	lib/collective/way.h \
	lib/collective/bulk.c lib/collective/bulk.h \
	lib/collective/bulk_ragged.c lib/collective/bulk_ragged.h \
	lib/collective/work.c lib/collective/work.h \
	lib/collective/work_any.c \
	lib/collective/work_handle.c lib/collective/work_handle.h

# lib/reduce: element types, and reductions of arrays, with options of their own for the compiler
noinst_LTLIBRARIES += lib/libreduce.la
lib_libmuster_all_la_LIBADD += lib/libreduce.la
lib_libreduce_la_CFLAGS = $(AM_CFLAGS) $(VECTOR_CFLAGS)
lib_libreduce_la_SOURCES = \
	lib/reduce/float_modes.h \
	lib/reduce/reduce.c lib/reduce/reduce.h \
	lib/reduce/reduce_floats.c \
	lib/reduce/reduce_integers.c \
	lib/reduce/reduce_kernel.h \
	lib/reduce/small_floats.h \
	lib/reduce/types.c lib/reduce/types.h

lib_LTLIBRARIES = lib/libmuster.la
lib_libmuster_la_SOURCES =
lib_libmuster_la_LIBADD = lib/libmuster_all.la
lib_libmuster_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(MUSTER_LT_VERSION) -no-undefined
EXTRA_lib_libmuster_la_DEPENDENCIES = $(srcdir)/lib/libmuster.map
EXTRA_DIST += lib/libmuster.map
# Threads of a store's server and plugins may outlive a dlclose.
lib_libmuster_la_LDFLAGS += -Wl,-z,nodelete
if HAVE_VERSION_SCRIPT
lib_libmuster_la_LDFLAGS += -Wl,--version-script,$(srcdir)/lib/libmuster.map
endif

pkgconfig_DATA = lib/muster.pc
