# SPDX-License-Identifier: BSD-3-Clause
#
# The pages of the manual. Each function is a page too: a link, made at the installation, to the page
# that has it in its NAME.
FUNCTION_PAGES = \
	doc/man/libmuster.3 \
	doc/man/muster_blob.3 \
	doc/man/muster_collective.3 \
	doc/man/muster_device.3 \
	doc/man/muster_failure.3 \
	doc/man/muster_gather_objects.3 \
	doc/man/muster_gather_tokens.3 \
	doc/man/muster_group.3 \
	doc/man/muster_launcher.3 \
	doc/man/muster_log.3 \
	doc/man/muster_machine.3 \
	doc/man/muster_options.3 \
	doc/man/muster_placement.3 \
	doc/man/muster_point_to_point.3 \
	doc/man/muster_reduction.3 \
	doc/man/muster_status.3 \
	doc/man/muster_store.3 \
	doc/man/muster_subgroup.3 \
	doc/man/muster_type.3 \
	doc/man/muster_version.3 \
	doc/man/muster_work.3
dist_man_MANS = $(FUNCTION_PAGES) \
	doc/man/muster-backend.7 \
	doc/man/muster-gather.1 \
	doc/man/muster-info.1 \
	doc/man/muster-options.7 \
	doc/man/muster-perf.1 \
	doc/man/muster-run.1 \
	doc/man/muster.7
dist_check_SCRIPTS += t/manual.sh.t

# A line a link: the page and the name.
MANUAL_LINKS = (cd $(srcdir) && $(AWK) '\
	/^\.Sh/ { naming = /NAME/; page = FILENAME; sub(/.*\//, "", page) } \
	naming && $$1 == ".Nm" && $$2 ".3" != page && /muster_/ { print page, $$2 ".3" }' \
	$(FUNCTION_PAGES))

install-data-hook:
	$(MANUAL_LINKS) | while read page link; do \
		(cd $(DESTDIR)$(man3dir) && rm -f $$link && $(LN_S) $$page $$link) || exit 1; \
	done
uninstall-hook:
	$(MANUAL_LINKS) | while read page link; do \
		rm -f $(DESTDIR)$(man3dir)/$$link || exit 1; \
	done
