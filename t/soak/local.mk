# SPDX-License-Identifier: BSD-3-Clause
#
# The soak.
EXTRA_DIST += t/soak/run
dist_check_SCRIPTS += t/soak_run.sh.t
check_DATA += t/soak/soak
EXTRA_PROGRAMS += t/soak/soak
CLEANFILES += t/soak/soak
t_soak_soak_SOURCES = t/soak/rank.c t/soak/soak.c t/soak/soak.h
t_soak_soak_LDADD = lib/libmuster.la
