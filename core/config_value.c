/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values against their keys.
 */
#include "config_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/cleanup.h"
#include "kit/near.h"
#include "kit/num.h"
#include "text_list.h"
#include "trust.h"

/* cpus are exact to a thousandth of a processor, which every engine can express. */
#define NANO_PER_CPU   1000000000.0
#define MILLI_PER_CPU  1000.0
#define NANO_PER_MILLI INT64_C(1000000)

/* --- What a key takes ---------------------------------------------------------------------- */

typedef struct unit {
    const char *suffix;
    int64_t factor;
} unit;

static const unit size_units[] = {
    {"TiB", INT64_C(1) << 40},
    {"GiB", INT64_C(1) << 30},
    {"MiB", INT64_C(1) << 20},
    {"KiB", INT64_C(1) << 10},
    {" bytes", 1},
};

static const unit duration_units[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define UNIT_COUNT(units) (sizeof(units) / sizeof((units)[0]))

/* The number with the largest unit that divides it. */
static void with_unit(int64_t number, const unit *units, size_t count, char *out, size_t size)
{
    size_t i = 0;
    while (i + 1 < count && (number == 0 || number % units[i].factor != 0))
        i++;
    (void)snprintf(out, size, "%" PRId64 "%s", number / units[i].factor, units[i].suffix);
}

static void form_choices(const cordon_key *key, char form[CORDON_FORM_MAX])
{
    size_t length = (size_t)snprintf(form, CORDON_FORM_MAX, "one of");
    for (const cordon_choice *choice = key->choices; choice->name; choice++) {
        int added = snprintf(form + length, CORDON_FORM_MAX - length, "%s \"%s\"",
                             choice == key->choices ? "" : ",", choice->name);
        if (added < 0 || (size_t)added >= CORDON_FORM_MAX - length)
            return;
        length += (size_t)added;
    }
}

static void form_range(const cordon_key *key, const char *what, const char *example,
                       const unit *units, size_t count, char form[CORDON_FORM_MAX])
{
    char min[32];
    char max[32];
    with_unit(key->min, units, count, min, sizeof min);
    with_unit(key->max, units, count, max, sizeof max);
    (void)snprintf(form, CORDON_FORM_MAX, "%s from %s to %s%s", what, min, max, example);
}

const char *cordon_value_form(const cordon_key *key, char form[CORDON_FORM_MAX])
{
    static const unit plain[] = {{"", 1}};
    form[0] = '\0';
    switch (key->type) {
    case CORDON_KEY_SIZE:
        form_range(key, "a size", ", such as \"512MiB\"", size_units, UNIT_COUNT(size_units), form);
        break;
    case CORDON_KEY_DURATION:
        form_range(key, "a time with its unit", ", such as \"30s\" or \"10m\"", duration_units,
                   UNIT_COUNT(duration_units), form);
        break;
    case CORDON_KEY_COUNT:
        form_range(key, "a whole number", "", plain, 1, form);
        break;
    case CORDON_KEY_CPUS:
        (void)snprintf(form, CORDON_FORM_MAX, "a number from %g to %g in steps of 0.001",
                       (double)key->min / NANO_PER_CPU, (double)key->max / NANO_PER_CPU);
        break;
    case CORDON_KEY_CHOICE:
        form_choices(key, form);
        break;
    case CORDON_KEY_FLAG:
        (void)snprintf(form, CORDON_FORM_MAX, "true or false, without quotes");
        break;
    case CORDON_KEY_TEXT:
    case CORDON_KEY_TEXTS:
    case CORDON_KEY_ARGVS:
    case CORDON_KEY_GROUP:
    case CORDON_KEY_ITEMS:
        (void)snprintf(form, CORDON_FORM_MAX, "%s", key->form);
        break;
    }
    return form;
}

/* --- Numbers ------------------------------------------------------------------------------- */

bool cordon_value_fits(const cordon_key *key, const cordon_value *value)
{
    switch (value->type) {
    case CORDON_VALUE_NUMBER:
        return key->type == CORDON_KEY_COUNT || key->type == CORDON_KEY_SIZE ||
               key->type == CORDON_KEY_CPUS;
    case CORDON_VALUE_FRACTION:
        return key->type == CORDON_KEY_CPUS;
    case CORDON_VALUE_TEXT:
        return key->type == CORDON_KEY_SIZE || key->type == CORDON_KEY_DURATION;
    case CORDON_VALUE_FLAG:
    case CORDON_VALUE_OTHER:
        break;
    }
    return false;
}

static int size_from_text(const char *text, int64_t *ret_number, cordon_err *err)
{
    uint64_t bytes = 0;
    if (cordon_num_size(text, strlen(text), &bytes, err) < 0)
        return -1;
    if (bytes > INT64_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is too large", CORDON_QUOTE(text));
    *ret_number = (int64_t)bytes;
    return 0;
}

/*
 * libconfig hands fractions out as double; three decimals of any sane number of processors come
 * through exactly after rounding, and anything finer is refused instead of rounded away.
 */
static int cpus_from_fraction(double cpus, int64_t *ret_number, cordon_err *err)
{
    double milli = cpus * MILLI_PER_CPU;
    if (!(milli > -1e9 && milli < 1e9))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%g is out of range", cpus);
    int64_t rounded = (int64_t)(milli + (milli < 0 ? -0.5 : 0.5));
    double rest = milli - (double)rounded;
    if (rest > 1e-6 || rest < -1e-6)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%.9g is finer than a thousandth", cpus);
    *ret_number = rounded * NANO_PER_MILLI;
    return 0;
}

static int cpus_from_number(int64_t cpus, int64_t *ret_number, cordon_err *err)
{
    if (__builtin_mul_overflow(cpus, INT64_C(1000) * NANO_PER_MILLI, ret_number))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%" PRId64 " is out of range", cpus);
    return 0;
}

/* The number before its range is looked at. */
static int convert(const cordon_key *key, const cordon_value *value, int64_t *ret_number,
                   cordon_err *err)
{
    if (value->type == CORDON_VALUE_FRACTION)
        return cpus_from_fraction(value->fraction, ret_number, err);
    if (value->type == CORDON_VALUE_TEXT && key->type == CORDON_KEY_DURATION)
        return cordon_num_duration(value->text, strlen(value->text), ret_number, err);
    if (value->type == CORDON_VALUE_TEXT)
        return size_from_text(value->text, ret_number, err);
    if (key->type == CORDON_KEY_CPUS)
        return cpus_from_number(value->number, ret_number, err);
    *ret_number = value->number;
    return 0;
}

int cordon_value_number(const cordon_key *key, const cordon_value *value, int64_t *ret_number,
                        cordon_err *err)
{
    int64_t number = 0;
    if (convert(key, value, &number, err) < 0)
        return -1;
    if (number >= key->min && number <= key->max) {
        *ret_number = number;
        return 0;
    }
    if (value->type == CORDON_VALUE_TEXT)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is out of range",
                           CORDON_QUOTE(value->text));
    if (value->type == CORDON_VALUE_FRACTION)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%g is out of range", value->fraction);
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%" PRId64 " is out of range", value->number);
}

/* --- Texts --------------------------------------------------------------------------------- */

void cordon_value_unknown(const cordon_schema *schema, const char *name,
                          char ret_reason[CORDON_FORM_MAX])
{
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_near near = {.word = name ? name : ""};
    for (size_t i = 0; i < schema->count; i++)
        cordon_near_look(&near, schema->keys[i].name);
    int used = snprintf(ret_reason, CORDON_FORM_MAX, "unknown key%s",
                        cordon_near_hint(&near, "known here:", hint));
    size_t length = used > 0 ? (size_t)used : 0;
    for (size_t i = 0; i < schema->count && length < CORDON_FORM_MAX; i++) {
        used = snprintf(ret_reason + length, CORDON_FORM_MAX - length, "%s %s", i > 0 ? "," : "",
                        schema->keys[i].name);
        length += used > 0 ? (size_t)used : 0;
    }
}

int cordon_value_choice(const cordon_key *key, const char *text, int *ret_value, cordon_err *err)
{
    for (const cordon_choice *choice = key->choices; choice->name; choice++) {
        if (strcmp(choice->name, text) == 0) {
            *ret_value = choice->value;
            return 0;
        }
    }
    cordon_near near = {.word = text};
    for (const cordon_choice *choice = key->choices; choice->name; choice++)
        cordon_near_look(&near, choice->name);
    if (near.best)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unknown value \"%s\" (did you mean \"%s\"?)",
                           CORDON_QUOTE(text), near.best);
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unknown value \"%s\"", CORDON_QUOTE(text));
}

static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

/* Taken from the folder of the file that holds it, wherever the caller stands. */
static int absolute_text(const char *text, const char *file, char **ret_text, cordon_err *err)
{
    cordon_autofree char *joined = NULL;
    const char *slash = strrchr(file, '/');
    int folder = slash && text[0] != '/' ? (int)(slash - file) + 1 : 0;
    if (asprintf(&joined, "%.*s%s", folder, file, text) < 0) {
        joined = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    return cordon_path_absolute(joined, ret_text, err);
}

int cordon_value_text(const cordon_key *key, const char *text, const char *file, char **ret_text,
                      cordon_err *err)
{
    size_t length = strlen(text);
    if (length == 0 && key->min > 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "is empty");
    if (length < (size_t)key->min || length > (size_t)key->max)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not %lld to %lld bytes long",
                           CORDON_QUOTE(text), (long long)key->min, (long long)key->max);
    if (key->check && key->check(text, err) < 0)
        return -1;
    if (key->flags & CORDON_KEY_PATH)
        return absolute_text(text, file, ret_text, err);
    if (cordon_text_copy(text, ret_text, err) < 0)
        return -1;
    if (key->flags & CORDON_KEY_LOWER)
        lower(*ret_text);
    return 0;
}
