/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking /proc/self/mountinfo apart:
 *   36 35 98:0 /root /target rw,noatime master:1 - ext4 /dev/root rw,errors=continue
 * Fields are parted by exactly one blank (blanks inside are escaped), so an empty source is seen
 * as an empty field and cannot shift its neighbours. libc-only.
 */
#include "gate/mountinfo.h"

/* The fields from the left up to the options, in order; NULL-like ones are only checked. */
static bool take_front(cordon_slice *rest, cordon_mountinfo *mount)
{
    cordon_slice number;
    for (int i = 0; i < 3; i++)
        if (!cordon_slice_cut(rest, ' ', &number) || number.length == 0)
            return false;
    return cordon_slice_cut(rest, ' ', &mount->root) && mount->root.length > 0 &&
           cordon_slice_cut(rest, ' ', &mount->target) && mount->target.length > 0 &&
           mount->target.text[0] == '/' && cordon_slice_cut(rest, ' ', &mount->options) &&
           mount->options.length > 0;
}

/* Any number of optional fields, up to the lone "-". */
static bool take_optional(cordon_slice *rest, cordon_mountinfo *mount)
{
    cordon_slice field;
    const char *start = rest->text;
    const char *end = start;
    while (cordon_slice_cut(rest, ' ', &field)) {
        if (cordon_slice_is(field, "-")) {
            mount->propagation = cordon_slice_make(start, (size_t)(end - start));
            return true;
        }
        if (field.length == 0)
            return false;
        end = field.text + field.length;
    }
    return false;
}

static bool take_back(cordon_slice *rest, cordon_mountinfo *mount)
{
    return cordon_slice_cut(rest, ' ', &mount->type) && mount->type.length > 0 &&
           cordon_slice_cut(rest, ' ', &mount->source) &&
           cordon_slice_cut(rest, ' ', &mount->super_options) && rest->length == 0 &&
           mount->super_options.length > 0;
}

int cordon_mountinfo_parse(cordon_slice line, cordon_mountinfo *ret_mount, cordon_err *err)
{
    cordon_mountinfo mount = {0};
    cordon_slice rest = line;
    if (!take_front(&rest, &mount) || !take_optional(&rest, &mount) || !take_back(&rest, &mount)) {
        char shown[CORDON_QUOTE_MAX];
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not a line of mountinfo: \"%s\"",
                           cordon_err_printable(shown, sizeof shown, line.text, line.length));
    }
    *ret_mount = mount;
    return 0;
}

#define SLICE(s) (int)(s).length, (s).text

int cordon_mountinfo_facts(cordon_slice text, cordon_report *report, cordon_err *err)
{
    cordon_slice line;
    while (cordon_slice_cut(&text, '\n', &line)) {
        cordon_mountinfo m;
        if (cordon_mountinfo_parse(line, &m, err) < 0)
            return -1;
        if (cordon_report_addf(report, err, "mount", "%.*s\t%.*s\t%.*s\t%.*s\t%.*s\t%.*s\t%.*s",
                               SLICE(m.target), SLICE(m.type), SLICE(m.options),
                               SLICE(m.super_options), SLICE(m.source), SLICE(m.root),
                               SLICE(m.propagation)) < 0)
            return -1;
    }
    return 0;
}
