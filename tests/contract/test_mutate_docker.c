/* SPDX-License-Identifier: Apache-2.0 */
/* The mutation suite over what Docker showed of real runs' objects; see mutate.h. Case EA3. */
#include "docker/docker_decode_internal.h"
#include "mutate.h"

static int decode_container(const char *json, cordon_container_facts *ret_facts, cordon_err *err)
{
    return docker_decode_container(json, strlen(json), ret_facts, err);
}

static int decode_network(const char *json, const char *members, cordon_network_facts *ret_facts,
                          cordon_err *err)
{
    (void)members;
    return docker_decode_network(json, strlen(json), ret_facts, err);
}

static int decode_volume(const char *json, const char *members, cordon_volume_facts *ret_facts,
                         cordon_err *err)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    if (docker_decode_volume(json, strlen(json), &facts, err) != 0 ||
        docker_decode_users(members, strlen(members), &facts.users, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_volume_facts){0};
    return 0;
}

#define NETWORK "$.NetworkSettings.Networks.*"

static const mutate_excuse excuses[] = {
    {"$.members[*]**", "*", "a list, of which the ids count alone"},
    /* one value for the same thing */
    {"$.Config.Healthcheck.Test", "en", "no test is no check, like [\"NONE\"]"},
    {"$.Config.Healthcheck.Test[*]", "d", "the same"},
    {"$.Config.StopSignal", "e", "documented: empty is SIGTERM"},
    {"$.HostConfig.RestartPolicy.Name", "e", "documented: empty is no"},
    {"$.HostConfig.SecurityOpt", "x", "the same option twice"},
    {"$.HostConfig.MaskedPaths", "x", "more is hidden, which every release may do"},
    {"$.HostConfig.ReadonlyPaths", "x", "more is protected"},
    {"$.HostConfig.MaskedPaths[*]", "fde", "/proc/asound, which only some hosts have"},
    {"$.HostConfig.CapDrop", "x", "more is dropped; what is left is the fact"},
    {"$.State.StartedAt", "e", "never, like Go's zero time"},
    {"$.State.FinishedAt", "e", "the same"},
    {"$.MountLabel", "f", "a part of selinux_label, which only narrows"},
    {"$.Mounts[0].Mode", "e", "a volume that is not labelled anew, where there is no SELinux"},
    /* told by another key */
    {"$.State.Running", "dn", "Status tells it; a flag that contradicts it is refused"},
    {"$.Config.Image", "dn", "Image is the fact; a name that is there must be the same"},
    {"$.HostConfig.Mounts", "x", "asks the same twice; Mounts tells what there is, once"},
    {"$.HostConfig.Mounts[*].Source", "den", "Mounts tells it; one that is there must agree"},
    {"$.HostConfig.Mounts[*].BindOptions.Propagation", "dn", "the same"},
    {"$.Containers.*", "en", "who is attached is the key; addresses are facts of the container"},
    /* a container without a network */
    {"$.NetworkSettings.Networks", "en", "none, without the entry that stands for none"},
    {"$.NetworkSettings.Networks.none", "d", "the same"},
    {"$.NetworkSettings.Networks.none.NetworkID", "f", "of the engine's own empty network"},
    /* not yet, or judged elsewhere */
    {"$.Containers", "d", "compared once the containers run"},
    {NETWORK, "e", "before the start: the address is compared once it runs"},
    {NETWORK ".IPAMConfig", "d", "what was asked for; the address in force is compared"},
    {NETWORK ".IPAddress", "dfn", "there is none before the start"},
    {NETWORK ".NetworkID", "den", "EA4: the network's own inspect, by id, lists the container"},
    {NETWORK ".Gateway", "dfen",
     "routes in force are in the gate's report; the network's own "
     "host_address says whether anybody has it"},
    {NETWORK ".MacAddress", "dfen", "nothing depends on it"},
    {NETWORK ".Aliases**", "*", "names for the daemon's own resolver; addresses are what is used"},
};

static void check(const char *samples)
{
    const mutate_engine engine = {
        .samples = samples,
        .container = decode_container,
        .network = decode_network,
        .volume = decode_volume,
        .harmless =
            {
                [CORDON_OBJECT_CONTAINER] = {docker_container_harmless,
                                             docker_container_harmless_count},
                [CORDON_OBJECT_NETWORK] = {docker_network_harmless, docker_network_harmless_count},
            },
        .excuses = {excuses, sizeof excuses / sizeof excuses[0]},
    };
    mutate_run(&engine);
}

static void EA3_every_leaf_of_20_10_is_judged(void)
{
    check("docker/20.10-run");
}

static void EA3_every_leaf_of_a_run_of_two_steps_on_20_10_is_judged(void)
{
    check("docker/20.10-steps-run");
}

CORDON_TEST_MAIN("mutate_docker", TEST(EA3_every_leaf_of_20_10_is_judged),
                 TEST(EA3_every_leaf_of_a_run_of_two_steps_on_20_10_is_judged))
