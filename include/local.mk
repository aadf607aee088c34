# SPDX-License-Identifier: BSD-3-Clause
#
# The public headers.
include_HEADERS = include/muster.h
musterincludedir = $(includedir)/muster
musterinclude_HEADERS = \
	include/muster/api.h \
	include/muster/backend.h \
	include/muster/blob.h \
	include/muster/collective.h \
	include/muster/device.h \
	include/muster/failure.h \
	include/muster/gather_objects.h \
	include/muster/gather_tokens.h \
	include/muster/group.h \
	include/muster/launcher.h \
	include/muster/log.h \
	include/muster/machine.h \
	include/muster/options.h \
	include/muster/placement.h \
	include/muster/point_to_point.h \
	include/muster/reduction.h \
	include/muster/status.h \
	include/muster/store.h \
	include/muster/subgroup.h \
	include/muster/type.h \
	include/muster/version.h \
	include/muster/work.h
