# SPDX-License-Identifier: BSD-3-Clause
#
# Documents on one subject each.
EXTRA_DIST += \
	doc/abi.md \
	doc/collectives.md \
	doc/devices.md \
	doc/environment.md \
	doc/failures.md \
	doc/hardening.md \
	doc/hosts.md \
	doc/launchers.md \
	doc/machine.md \
	doc/nccl.md \
	doc/placement.md \
	doc/security.md \
	doc/shared-memory.md \
	doc/speed.md \
	doc/torch.md
