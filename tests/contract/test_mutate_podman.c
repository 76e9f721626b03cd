/* SPDX-License-Identifier: Apache-2.0 */
/* The mutation suite over what Podman showed of real runs' objects; see mutate.h. Case EA3. */
#include "podman/podman_decode_internal.h"
#include "mutate.h"

static int decode_container(const char *json, cordon_container_facts *ret_facts, cordon_err *err)
{
    return podman_decode_container(json, strlen(json), 4, ret_facts, err);
}

/* As podman_network_inspect puts it together. */
static int decode_network(const char *json, const char *members, cordon_network_facts *ret_facts,
                          cordon_err *err)
{
    cordon_auto(cordon_network_facts) facts = {0};
    if (podman_decode_network(json, strlen(json), &facts, err) != 0 ||
        (members && podman_decode_members(members, strlen(members), &facts.endpoints, err) != 0))
        return -1;
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

/* As podman_volume_inspect puts it together. */
static int decode_volume(const char *json, const char *members, cordon_volume_facts *ret_facts,
                         cordon_err *err)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    if (podman_decode_volume(json, strlen(json), &facts, err) != 0 ||
        podman_decode_members(members, strlen(members), &facts.users, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

#define NETWORK "$.NetworkSettings.Networks.*"
#define ONE_VALUE                                                                                  \
    "may hold one value, which is refused otherwise; not every release has the key, and empty is " \
    "that it was not said"
#define OWN_FILE "a file in Podman's own folder or none; another place is refused"

static const mutate_excuse excuses[] = {
    {"$.members[*]**", "*", "a list, of which the ids count alone"},
    {"$.members", "x", "the same"},
    /* one value for the same thing */
    {"$.Config.Healthcheck.Test", "en", "no test is no check, like [\"NONE\"]"},
    {"$.Config.Healthcheck.Test[*]", "d", "the same"},
    {"$.Config.StdinOnce", "f", "always written as false; with an open stdin it holds either way"},
    {"$.HostConfig.RestartPolicy.Name", "e", "documented: empty is no"},
    {"$.HostConfig.SecurityOpt", "x", "the same option twice"},
    {"$.HostConfig.CpuPeriod", "f", "a period without a quota limits nothing, whatever it is"},
    {"$.HostConfig.MemorySwappiness", "den", "unset, or less swapping"},
    {"$.HostConfig.LogConfig.Size", "fden", "a bound of a log that is not kept"},
    {"$.State.StartedAt", "e", "never, like Go's zero time"},
    {"$.State.FinishedAt", "e", "the same"},
    {"$.MountLabel", "f", "a part of selinux_label, which only narrows"},
    /* keys that may hold one value only */
    {"$.Config.Annotations", "den", "what Podman notes by itself; another annotation is refused"},
    {"$.Config.Annotations.*", "fden", "the same; those with a meaning may hold one value only"},
    {"$.Config.HealthcheckOnFailureAction", "den", ONE_VALUE},
    {"$.Config.Umask", "den", ONE_VALUE},
    {"$.Config.sdNotifyMode", "den", ONE_VALUE},
    {"$.HostConfig.Cgroups", "den", ONE_VALUE},
    {"$.HostConfig.Runtime", "den", ONE_VALUE},
    {"$.State.CheckpointedAt", "den", ONE_VALUE},
    {"$.State.RestoredAt", "den", ONE_VALUE},
    {"$.State.Health", "den", "there is no health check, so nothing is told of it"},
    {"$.HostConfig.ConsoleSize", "denx", "no terminal, no size"},
    {"$.ipam_options", "den", ONE_VALUE},
    {"$.ipam_options.driver", "dn", ONE_VALUE},
    {"$.ConmonPidFile", "den", OWN_FILE},
    {"$.HostnamePath", "den", OWN_FILE},
    {"$.OCIConfigPath", "den", OWN_FILE},
    {"$.PidFile", "den", OWN_FILE},
    {"$.ResolvConfPath", "den", OWN_FILE},
    {"$.StaticDir", "fden", "that folder; what is below it is held against it"},
    /* told by another key, or by another witness */
    {"$.HostConfig.CapDrop**", "denx", "the asking; EffectiveCaps and BoundingCaps are the fact"},
    {"$.HostConfig.Binds**", "fdenx", "repeats Mounts; what Mounts lacks is refused"},
    {"$.HostConfig.IpcMode", "dn", "Podman 4 says the same of host and private: unknown anyway"},
    {"$.HostConfig.IDMappings.UidMap[*]", "d", "fewer ids than the user has, still kept"},
    {"$.HostConfig.IDMappings.GidMap[*]", "d", "the same"},
    {"$.Mounts[*].Options", "d", "of the image mount, which is read-only whatever they say"},
    {"$.Mounts[*].Propagation", "fden", "the same; a bind's is compared"},
    {NETWORK, "e", "before the start: the address is compared once it runs"},
    {NETWORK ".IPAddress", "dfn", "there is none before the start"},
    {NETWORK ".NetworkID", "den",
     "EA4: Podman 4 writes the name; the network's own inspect, by "
     "id, and its members settle it"},
    {NETWORK ".Gateway", "dfen",
     "routes in force are in the gate's report; the network's own "
     "host_address says whether anybody has it"},
    {NETWORK ".MacAddress", "dfen", "nothing depends on it"},
    {NETWORK ".Aliases**", "*", "names for a resolver that these networks do not have"},
};

#define TWICE "the same option twice"
#define NARROWING                                                                                  \
    "nosuid and nodev, which not every engine has: no privilege can be gained and no device be "   \
    "made anyway"
#define THE_VOLUMES                                                                                \
    "nosuid, nodev and noexec are the volume's own, too, where they are compared, as they are in " \
    "the runtime's configuration; rbind is what every volume is"
#define SET_UP                                                                                     \
    "the image mount again, once it is set up: source and options must be Podman's own overlay "   \
    "of "                                                                                          \
    "lower layers, and such a mount is read-only"

/* Mounts of a step: image, worktree, and the first once more. */
static const mutate_excuse one_step[] = {
    {"$.Mounts[1].Options", "x", TWICE},
    {"$.Mounts[1].Options[*]", "d", NARROWING},
    {"$.Mounts[2]**", "*", SET_UP},
};
/* Scratch, image, worktree, and the second once more; of a keeper the first alone. */
static const mutate_excuse two_steps[] = {
    {"$.Mounts[0].Options", "x", TWICE}, {"$.Mounts[0].Options[*]", "d", THE_VOLUMES},
    {"$.Mounts[2].Options", "x", TWICE}, {"$.Mounts[2].Options[*]", "d", NARROWING},
    {"$.Mounts[3]**", "*", SET_UP},
};

#define PLACED(list)                                                                               \
    (mutate_excuses)                                                                               \
    {                                                                                              \
        (list), sizeof(list) / sizeof((list)[0])                                                   \
    }

static void check(const char *samples, mutate_excuses placed)
{
    const mutate_engine engine = {
        .samples = samples,
        .container = decode_container,
        .network = decode_network,
        .volume = decode_volume,
        .harmless =
            {
                [CORDON_OBJECT_CONTAINER] = {podman_container_harmless,
                                             podman_container_harmless_count},
                [CORDON_OBJECT_NETWORK] = {podman_network_harmless, podman_network_harmless_count},
                [CORDON_OBJECT_VOLUME] = {podman_volume_harmless, podman_volume_harmless_count},
            },
        .excuses = {excuses, sizeof excuses / sizeof excuses[0]},
        .placed = placed,
        .has_members = true,
        .runtime_told = true,
    };
    mutate_run(&engine);
}

static void EA3_every_leaf_of_4_3_is_judged(void)
{
    check("podman/4.3-run", PLACED(one_step));
}

static void EA3_every_leaf_of_4_3_rootless_is_judged(void)
{
    check("podman/4.3-rootless-run", PLACED(one_step));
}

static void EA3_every_leaf_of_a_run_of_two_steps_on_4_3_is_judged(void)
{
    check("podman/4.3-steps-run", PLACED(two_steps));
}

static void EA3_every_leaf_of_a_run_of_two_steps_on_4_3_rootless_is_judged(void)
{
    check("podman/4.3-rootless-steps-run", PLACED(two_steps));
}

CORDON_TEST_MAIN("mutate_podman", TEST(EA3_every_leaf_of_4_3_is_judged),
                 TEST(EA3_every_leaf_of_4_3_rootless_is_judged),
                 TEST(EA3_every_leaf_of_a_run_of_two_steps_on_4_3_is_judged),
                 TEST(EA3_every_leaf_of_a_run_of_two_steps_on_4_3_rootless_is_judged))
