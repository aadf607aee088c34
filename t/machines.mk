# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of what is seen of machines, and of placing ranks on them.

# what is seen of machines
MACHINE_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES='"$(abs_srcdir)/t/topologies"'
if SANITIZED
MACHINE_CPPFLAGS += -DSANITIZED
endif
check_PROGRAMS += \
	t/cpu_set.t \
	t/machine_here.t \
	t/machine_starved.t \
	t/machine_xml.t \
	t/visible_devices.t
t_machine_here_t_CPPFLAGS = $(MACHINE_CPPFLAGS)
t_machine_starved_t_SOURCES = t/machine_starved.c t/scarce.c t/scarce.h
t_machine_starved_t_CPPFLAGS = $(MACHINE_CPPFLAGS)
t_machine_starved_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)
if HWLOC
check_PROGRAMS += \
	t/machine_devices.t \
	t/machine_files.t \
	t/machine_nics.t \
	t/machine_odd.t \
	t/nic_near.t
endif
t_machine_devices_t_CPPFLAGS = $(MACHINE_CPPFLAGS) $(HWLOC_CFLAGS)
t_machine_devices_t_LDADD = $(UNIT_LDADD) $(HWLOC_LIBS)
t_machine_files_t_CPPFLAGS = $(MACHINE_CPPFLAGS)
t_machine_odd_t_CPPFLAGS = $(MACHINE_CPPFLAGS) $(HWLOC_CFLAGS)
t_machine_odd_t_LDADD = $(UNIT_LDADD) $(HWLOC_LIBS)
t_nic_near_t_CPPFLAGS = $(MACHINE_CPPFLAGS)

# placing ranks
check_PROGRAMS += \
	t/assign.t \
	t/placement.t \
	t/placement_cores.t \
	t/placement_scarce.t \
	t/placement_topologies.t \
	t/plan.t \
	t/standing.t
PLACING_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -DTOPOLOGIES='"$(abs_srcdir)/t/topologies"'
t_placement_cores_t_SOURCES = t/placement_cores.c t/placing.c t/placing.h
t_placement_cores_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_placement_scarce_t_SOURCES = t/placement_scarce.c t/placing.c t/placing.h t/scarce.c t/scarce.h
t_placement_scarce_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_placement_scarce_t_LDFLAGS = $(AM_LDFLAGS) $(SCARCE_MEMORY)
t_placement_t_SOURCES = t/placement.c t/placing.c t/placing.h
t_placement_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_placement_topologies_t_SOURCES = t/placement_topologies.c t/placing.c t/placing.h
t_placement_topologies_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_plan_t_CPPFLAGS = $(PLACING_CPPFLAGS)
t_standing_t_SOURCES = t/standing.c t/placing.c t/placing.h
t_standing_t_CPPFLAGS = $(PLACING_CPPFLAGS)
