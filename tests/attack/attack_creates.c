/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases EA5 and RL4: a daemon that takes a create, drops or changes one field of it and answers
 * 201. Every field of every create that Cordon sends is dropped, one at a time, on the real engine;
 * what was made is inspected and judged by core's own tables (and, on libpod, what the OCI runtime
 * got). Each is refused with its fact - or stands in the list below: there the engine does by
 * itself what was asked, or the address in force is compared once it runs. The hostile changes show
 * that the facts answer where a drop alone changes nothing. A few go through whole runs.
 */
#include "bench.h"
#include "changes.h"
#include "real/play.h"
#include "silent.h"

#include <stdlib.h>

/* --- Changes that must show ------------------------------------------------------------------- */

/*
 * code     of the refusal, without its prefix; NULL: the engine declines such a create itself
 * fact     without the object's name; NULL with the code. Where a release's inspect tells more than
 *          another's, the facts of both, with | between
 */
typedef struct hostile {
    unsigned engines;
    cordon_role role;
    bench_change change;
    const char *code;
    const char *fact;
} hostile;

#define STEP   CORDON_ROLE_STEP
#define PROXY  CORDON_ROLE_PROXY
#define VENDOR CORDON_ROLE_VENDOR_NETWORK
#define EGRESS CORDON_ROLE_EGRESS_NETWORK
#define KEEPER CORDON_ROLE_KEEPER
/* "SCRATCH" would be the folder. */
#define VOLUME CORDON_ROLE_SCRATCH
#define SET(path, value)                                                                           \
    {                                                                                              \
        path, value, NULL                                                                          \
    }
#define ADD(path, member)                                                                          \
    {                                                                                              \
        path, NULL, member                                                                         \
    }
#define HOST(key) "$.HostConfig." key
/* Podman 5 tells it in the inspect already, before the runtime's file is read. */
#define UNMASKED "runtime.masked_paths|security_options"
#define FUSE                                                                                       \
    "[{\"PathOnHost\":\"/dev/fuse\",\"PathInContainer\":\"/dev/fuse\",\"CgroupPermissions\":"      \
    "\"rwm\"}]"

static const hostile docker_hostiles[] = {
    {DOCKER, STEP, SET("$.Domainname", "\"x\""), "MISMATCH", "domainname"},
    {DOCKER, STEP, SET("$.Tty", "true"), "MISMATCH", "tty"},
    {DOCKER, PROXY, SET("$.OpenStdin", "false"), "MISMATCH", "open_stdin"},
    {DOCKER, STEP, ADD("$.Env", "\"LD_PRELOAD=/x.so\""), "MISMATCH", "environment"},
    {DOCKER, PROXY, ADD("$.Env", "\"HTTPS_PROXY=http://x.test\""), "MISMATCH", "environment"},
    {DOCKER, STEP, SET("$.StopSignal", "\"SIGKILL\""), "MISMATCH", "stop_signal"},
    {DOCKER, STEP, SET("$.Healthcheck", "{\"Test\":[\"CMD\",\"x\"]}"), "MISMATCH", "healthcheck"},
    {DOCKER, STEP, SET("$.ExposedPorts", "{\"80/tcp\":{}}"), "MISMATCH", "exposed_ports"},
    {DOCKER, STEP, SET("$.Volumes", "{\"/v\":{}}"), "MISMATCH", "mounts"},
    {DOCKER, STEP, ADD("$", "\"NetworkDisabled\":true"), "MISMATCH", "endpoints"},
    {DOCKER, STEP, ADD("$", "\"Shell\":[\"/bin/sh\"]"), "UNMODELLED", "unmodelled"},
    {DOCKER, STEP, ADD("$", "\"OnBuild\":[\"RUN x\"]"), "UNMODELLED", "unmodelled"},
    {DOCKER, STEP, SET(HOST("Privileged"), "true"), "MISMATCH", "privileged"},
    {DOCKER, PROXY, SET(HOST("Privileged"), "true"), "MISMATCH", "privileged"},
    {DOCKER, STEP, SET(HOST("CapAdd"), "[\"SYS_ADMIN\"]"), "MISMATCH", "capabilities"},
    {DOCKER, STEP, ADD(HOST("SecurityOpt"), "\"seccomp=unconfined\""), "MISMATCH",
     "security_options"},
    {DOCKER, PROXY, ADD(HOST("SecurityOpt"), "\"seccomp=unconfined\""), "MISMATCH",
     "security_options"},
    {DOCKER, STEP, ADD(HOST("SecurityOpt"), "\"label=disable\""), "MISMATCH", "security_options"},
    {DOCKER, STEP, SET(HOST("GroupAdd"), "[\"0\"]"), "MISMATCH", "extra_groups"},
    {DOCKER, STEP, SET(HOST("MaskedPaths"), "[]"), "MISMATCH", "masked_paths"},
    {DOCKER, PROXY, SET(HOST("MaskedPaths"), "[]"), "MISMATCH", "masked_paths"},
    {DOCKER, STEP, SET(HOST("ReadonlyPaths"), "[]"), "MISMATCH", "readonly_paths"},
    {DOCKER, STEP, SET(HOST("Devices"), FUSE), "MISMATCH", "devices"},
    {DOCKER, STEP, SET(HOST("DeviceCgroupRules"), "[\"c 10:229 rwm\"]"), "MISMATCH", "devices"},
    {DOCKER, STEP, SET(HOST("PidMode"), "\"host\""), "MISMATCH", "security_options"},
    {DOCKER, STEP, SET(HOST("IpcMode"), "\"host\""), "MISMATCH", "security_options"},
    {DOCKER, STEP, SET(HOST("IpcMode"), "\"shareable\""), "MISMATCH", "ipc_mode"},
    {DOCKER, STEP, SET(HOST("UTSMode"), "\"host\""), NULL, NULL},
    {DOCKER, STEP, SET(HOST("UsernsMode"), "\"host\""), "MISMATCH", "user_mode"},
    {DOCKER, STEP, SET(HOST("CgroupnsMode"), "\"host\""), "MISMATCH", "cgroup_mode"},
    {DOCKER, STEP, SET(HOST("CgroupParent"), "\"/foreign\""), "MISMATCH", "cgroup_parent"},
    {DOCKER, STEP, SET(HOST("NetworkMode"), "\"host\""), "MISMATCH", "network_mode"},
    {DOCKER, PROXY, SET(HOST("Dns"), "[\"9.9.9.9\"]"), "MISMATCH", "dns_servers"},
    {DOCKER, STEP, SET(HOST("DnsOptions"), "[\"ndots:5\"]"), "MISMATCH", "dns_options"},
    {DOCKER, STEP, SET(HOST("ExtraHosts"), "[\"x.test:1.2.3.4\"]"), "MISMATCH", "extra_hosts"},
    {DOCKER, STEP, SET(HOST("PortBindings"), "{\"80/tcp\":[{\"HostPort\":\"18080\"}]}"), "MISMATCH",
     "published_ports"},
    {DOCKER, STEP, SET(HOST("PublishAllPorts"), "true"), "MISMATCH", "publish_all"},
    {DOCKER, STEP, SET(HOST("ShmSize"), "1048576"), "MISMATCH", "shm_bytes"},
    {DOCKER, STEP, SET(HOST("OomKillDisable"), "true"), "MISMATCH", "oom_kill_disable"},
    {DOCKER, STEP, SET(HOST("Ulimits[0].Hard"), "9"), "MISMATCH", "ulimits"},
    {DOCKER, STEP, SET(HOST("RestartPolicy.Name"), "\"always\""), "MISMATCH", "restart_policy"},
    {DOCKER, STEP, SET(HOST("AutoRemove"), "true"), "MISMATCH", "auto_remove"},
    {DOCKER, STEP, SET(HOST("Init"), "true"), "MISMATCH", "init"},
    {DOCKER, PROXY, SET(HOST("Init"), "true"), "MISMATCH", "init"},
    {DOCKER, STEP, SET(HOST("LogConfig.Type"), "\"json-file\""), "MISMATCH", "log_driver"},
    {DOCKER, STEP, SET(HOST("Mounts[0].BindOptions.Propagation"), "\"rshared\""), "MISMATCH",
     "mounts[/worktree].propagation"},
    {DOCKER, STEP, SET(HOST("Tmpfs[\"/tmp\"]"), "\"rw,exec,suid,dev\""), "MISMATCH",
     "mounts[/tmp].options"},
    {DOCKER, PROXY, SET(HOST("Tmpfs"), "{\"/x\":\"\"}"), "MISMATCH", "mounts"},
    {DOCKER, STEP, SET(HOST("Binds"), "[\"/etc:/x\"]"), "MISMATCH", "mounts"},
    {DOCKER, STEP, ADD("$.HostConfig", "\"CpuShares\":512"), "UNMODELLED", "unmodelled"},
    {DOCKER, STEP, ADD("$.HostConfig", "\"CpusetCpus\":\"0\""), "UNMODELLED", "unmodelled"},
    {DOCKER, STEP, ADD("$.HostConfig", "\"Isolation\":\"default\""), "UNMODELLED", "unmodelled"},
    {DOCKER, STEP, ADD("$.HostConfig", "\"VolumeDriver\":\"local\""), "UNMODELLED", "unmodelled"},
    {DOCKER, VENDOR, SET("$.Name", "\"other\""), "FOREIGN", "name"},
    {DOCKER, VENDOR, SET("$.Attachable", "true"), "MISMATCH", "attachable"},
    {DOCKER, VENDOR, SET("$.IPAM.Config[0].Subnet", "\"10.219.70.0/24\""), "MISMATCH", "subnets"},
    {DOCKER, VENDOR, ADD("$.Options", "\"com.docker.network.bridge.name\":\"atkbr\""), "MISMATCH",
     "options"},
    {DOCKER, EGRESS, SET("$.Internal", "true"), "MISMATCH", "internal"},
    {DOCKER, KEEPER, SET("$.Cmd", "[\"proxy\"]"), "MISMATCH", "command"},
    {DOCKER, KEEPER, SET("$.OpenStdin", "true"), "MISMATCH", "open_stdin"},
    {DOCKER, KEEPER, SET("$.User", "\"0:0\""), "MISMATCH", "user"},
    {DOCKER, KEEPER, SET(HOST("NetworkMode"), "\"bridge\""), "MISMATCH", "network_mode"},
    {DOCKER, KEEPER, SET(HOST("Privileged"), "true"), "MISMATCH", "privileged"},
    {DOCKER, KEEPER, ADD(HOST("SecurityOpt"), "\"seccomp=unconfined\""), "MISMATCH",
     "security_options"},
    {DOCKER, KEEPER, SET(HOST("Init"), "true"), "MISMATCH", "init"},
    {DOCKER, KEEPER, SET(HOST("MaskedPaths"), "[]"), "MISMATCH", "masked_paths"},
    {DOCKER, KEEPER, SET(HOST("Binds"), "[\"/etc:/x\"]"), "MISMATCH", "mounts"},
    {DOCKER, KEEPER, SET(HOST("Mounts[0].ReadOnly"), "true"), "MISMATCH", "mounts[/tmp].read_only"},
    {DOCKER, KEEPER, SET(HOST("Mounts[0].Target"), "\"/x\""), "MISMATCH", "mounts"},
    {DOCKER, KEEPER,
     SET(HOST("Mounts[0]"), "{\"Type\":\"bind\",\"Source\":\"/etc\",\"Target\":\"/tmp\"}"),
     "MISMATCH", "mounts[/tmp].type"},
    {DOCKER, KEEPER, SET(HOST("Mounts[0].VolumeOptions.NoCopy"), "false"), "MISMATCH",
     "mounts[/tmp].options"},
    {DOCKER, VOLUME, SET("$.Driver", "\"x\""), NULL, NULL},
    {DOCKER, VOLUME, SET("$.DriverOpts", "{}"), "MISMATCH", "options"},
    {DOCKER, VOLUME, SET("$.DriverOpts.o", "\"nr_blocks=9999999\""), "MISMATCH", "options"},
    {DOCKER, VOLUME, SET("$.DriverOpts", "{\"type\":\"none\",\"device\":\"/etc\",\"o\":\"bind\"}"),
     "MISMATCH", "options"},
    {DOCKER, VOLUME, ADD("$.Labels", "\"io.cordon.more\":\"x\""), "FOREIGN", "labels"},
    {DOCKER, VOLUME, SET("$.Labels", "{}"), "FOREIGN", "labels"},
    {DOCKER, EGRESS,
     ADD("$.Options", "\"com.docker.network.bridge.enable_ip_masquerade\":\"false\""), "MISMATCH",
     "options"},
};

#define UNCONFINED ADD("$", "\"seccomp_profile_path\":\"unconfined\"")
#define OVERLAY    SET("$.overlay_volumes", "[{\"source\":\"/etc\",\"destination\":\"/x\"}]")

static const hostile podman_hostiles[] = {
    {LIBPOD, STEP, SET("$.name", "\"other\""), "FOREIGN", "name"},
    {LIBPOD, STEP, SET("$.terminal", "true"), "MISMATCH", "tty"},
    {LIBPOD, STEP, SET("$.env_host", "true"), "MISMATCH", "environment"},
    {LIBPOD, PROXY, SET("$.env_host", "true"), "MISMATCH", "environment"},
    {LIBPOD, STEP, ADD("$.env", "\"LD_PRELOAD\":\"/x.so\""), "MISMATCH", "environment"},
    {LIBPOD, PROXY, ADD("$.env", "\"HTTPS_PROXY\":\"http://x.test\""), "MISMATCH", "environment"},
    {LIBPOD, STEP, SET("$.privileged", "true"), "MISMATCH", "privileged"},
    {PODMAN, STEP, SET("$.cap_add", "[\"CAP_SYS_ADMIN\"]"), "MISMATCH", "capabilities"},
    {LIBPOD, STEP, SET("$.groups", "[\"0\"]"), "MISMATCH", "extra_groups"},
    {LIBPOD, STEP, SET("$.pidns", "{\"nsmode\":\"host\"}"), "MISMATCH", "pid_mode"},
    {LIBPOD, STEP, SET("$.ipcns", "{\"nsmode\":\"host\"}"), NULL, NULL},
    {LIBPOD, STEP, SET("$.utsns", "{\"nsmode\":\"host\"}"), NULL, NULL},
    {LIBPOD, STEP, SET("$.netns", "{\"nsmode\":\"host\"}"), NULL, NULL},
    {LIBPOD, STEP, SET("$.cgroupns", "{\"nsmode\":\"host\"}"), "MISMATCH", "cgroup_mode"},
    {LIBPOD, STEP, OVERLAY, "MISMATCH", "runtime.mounts"},
    {LIBPOD, PROXY, OVERLAY, "MISMATCH", "runtime.mounts"},
    {PODMAN, STEP, SET("$.devices", "[{\"path\":\"/dev/fuse\"}]"), "MISMATCH", "devices"},
    {ROOTLESS, STEP, SET("$.devices", "[{\"path\":\"/dev/fuse\"}]"), "MISMATCH",
     "runtime.root_propagation"}, /* it comes with a bind */
    {LIBPOD, STEP, SET("$.portmappings", "[{\"host_port\":18080,\"container_port\":80}]"),
     "MISMATCH", "published_ports"},
    {LIBPOD, STEP, SET("$.dns_option", "[\"ndots:5\"]"), "MISMATCH", "dns_options"},
    {LIBPOD, STEP, SET("$.restart_policy", "\"always\""), "MISMATCH", "restart_policy"},
    {LIBPOD, STEP, SET("$.remove", "true"), "MISMATCH", "auto_remove"},
    {LIBPOD, STEP, SET("$.log_configuration", "{\"driver\":\"k8s-file\"}"), "MISMATCH",
     "log_driver"},
    {LIBPOD, STEP, SET("$.stop_signal", "9"), "MISMATCH", "stop_signal"},
    {LIBPOD, STEP, SET("$.init", "true"), "MISMATCH", "argv"},
    {LIBPOD, STEP, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {LIBPOD, PROXY, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {LIBPOD, STEP, ADD("$", "\"unmask\":[\"ALL\"]"), "MISMATCH", UNMASKED},
    {LIBPOD, PROXY, ADD("$", "\"unmask\":[\"ALL\"]"), "MISMATCH", UNMASKED},
    {LIBPOD, STEP, ADD("$", "\"cgroup_parent\":\"/foreign\""), "MISMATCH", "cgroup_parent"},
    {LIBPOD, VENDOR, SET("$.name", "\"other\""), "FOREIGN", "name"},
    {LIBPOD, VENDOR, SET("$.dns_enabled", "true"), "MISMATCH", "host_address"},
    {LIBPOD, VENDOR, SET("$.subnets[0].subnet", "\"10.219.70.0/24\""), "MISMATCH", "subnets"},
    {LIBPOD, VENDOR, ADD("$.options", "\"mtu\":\"1400\""), "MISMATCH", "options"},
    {LIBPOD, EGRESS, SET("$.internal", "true"), "MISMATCH", "internal"},
    {LIBPOD, KEEPER, SET("$.command", "[\"proxy\"]"), "MISMATCH", "command"},
    {LIBPOD, KEEPER, SET("$.stdin", "true"), "MISMATCH", "open_stdin"},
    {LIBPOD, KEEPER, SET("$.user", "\"0:0\""), "MISMATCH", "user"},
    {PODMAN, KEEPER, SET("$.netns", "{\"nsmode\":\"bridge\"}"), "MISMATCH", "network_mode"},
    {LIBPOD, KEEPER, SET("$.privileged", "true"), "MISMATCH", "privileged"},
    {LIBPOD, KEEPER, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {LIBPOD, KEEPER, ADD("$", "\"unmask\":[\"ALL\"]"), "MISMATCH", UNMASKED},
    {LIBPOD, KEEPER, OVERLAY, "MISMATCH", "runtime.mounts"},
    {LIBPOD, KEEPER, SET("$.volumes[0].Dest", "\"/x\""), "MISMATCH", "mounts"},
    {LIBPOD, KEEPER, SET("$.volumes[0].Options", "[\"nocopy\",\"ro\"]"), "MISMATCH",
     "mounts[/tmp].read_only"},
    {PODMAN, KEEPER, SET("$.volumes[0].Options", "[\"nocopy\"]"), "MISMATCH",
     "runtime.mounts[/tmp].options"},
    {ROOTLESS, KEEPER, SET("$.volumes[0].Options", "[\"nocopy\"]"), NULL, NULL}, /* the kernel */
    {LIBPOD, VOLUME, SET("$.Driver", "\"x\""), NULL, NULL},
    {LIBPOD, VOLUME, SET("$.Options", "{}"), "MISMATCH", "options"},
    {LIBPOD, VOLUME, SET("$.Options.o", "\"nr_blocks=9999999\""), "MISMATCH", "options"},
    {LIBPOD, VOLUME, SET("$.Options", "{\"type\":\"none\",\"device\":\"/etc\",\"o\":\"bind\"}"),
     "MISMATCH", "options"},
    {LIBPOD, VOLUME, ADD("$.Label", "\"io.cordon.more\":\"x\""), "FOREIGN", "labels"},
    {LIBPOD, VOLUME, SET("$.Label", "{}"), "FOREIGN", "labels"},
};

/* --- The bench -------------------------------------------------------------------------------- */

static bench the_bench;

static void an_honest_create_is_accepted(void)
{
    static char tree[192];
    (void)snprintf(tree, sizeof tree, "%s", real_worktree("tree"));
    REQUIRE(bench_open(&the_bench, tree));
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        cordon_refusal refusal = {0};
        char message[256];
        TEST_RECORDF(bench_try(&the_bench, (cordon_role)role, NULL, &refusal, message) ==
                         BENCH_SILENT,
                     "%s: %s", cordon_role_name((cordon_role)role), message);
    }
}

static void check_drop(cordon_role role, const char *path, unsigned counts[5])
{
    const bench_change change = {.path = path};
    cordon_refusal refusal = {0};
    char message[256];
    bench_verdict verdict = bench_try(&the_bench, role, &change, &refusal, message);
    const char *name = cordon_role_name(role);
    counts[verdict]++;
    TEST_RECORDF(verdict != BENCH_BROKEN, "%s without %s: not tried", name, path);
    TEST_RECORDF(verdict != BENCH_SILENT || silent_why(role, path), "%s without %s: UNCONFIRMED",
                 name, path);
    TEST_RECORDF(verdict != BENCH_REFUSED || strncmp(refusal.fact, name, strlen(name)) == 0,
                 "%s without %s: %s", name, path, refusal.fact);
}

/* What an honest create of that role sends. */
static char *body_of(cordon_role role)
{
    cordon_refusal refusal = {0};
    char message[256];
    (void)bench_try(&the_bench, role, NULL, &refusal, message);
    return the_bench.body ? strdup(the_bench.body) : NULL;
}

/* The keeper is made like the proxy, so of what both say alike the long test alone asks twice. */
static bool is_the_proxys(const json_text *proxys, const json_text *keepers, size_t at)
{
#ifdef ATTACK_LONG
    (void)proxys;
    (void)keepers;
    (void)at;
    return false;
#else
    const json_text_place *own = &keepers->places[at];
    size_t found = proxys->count > 0 ? json_text_find(proxys, own->path) : JSON_TEXT_NONE;
    if (found == JSON_TEXT_NONE)
        return false;
    const json_text_place *its = &proxys->places[found];
    return its->end - its->begin == own->end - own->begin &&
           memcmp(proxys->text + its->begin, keepers->text + own->begin, own->end - own->begin) ==
               0;
#endif
}

static void EA5_every_dropped_field_is_confirmed_or_refused(void)
{
    unsigned counts[5] = {0};
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        cordon_auto(json_text) json = {0};
        cordon_auto(json_text) proxys = {0};
        cordon_autofree char *body = body_of((cordon_role)role);
        cordon_autofree char *others = role == KEEPER ? body_of(PROXY) : NULL;
        REQUIRE(body != NULL && json_text_read(body, &json));
        REQUIRE(others == NULL || json_text_read(others, &proxys));
        for (size_t i = 1; i < json.count; i++) {
            if (stage_asked_for((cordon_role)role) && !is_the_proxys(&proxys, &json, i))
                check_drop((cordon_role)role, json.places[i].path, counts);
        }
    }
    printf("    dropped: %u refused, %u unreadable, %u declined by the engine, %u without effect\n",
           counts[BENCH_REFUSED], counts[BENCH_UNREAD], counts[BENCH_DECLINED],
           counts[BENCH_SILENT]);
}

/* ROLE.FACT, for one of the row's facts. */
static bool is_fact_of(const hostile *h, const char *fact)
{
    const char *role = cordon_role_name(h->role);
    size_t length = strlen(role);
    if (strncmp(fact, role, length) != 0 || fact[length] != '.')
        return false;
    fact += length + 1;
    for (const char *at = h->fact; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == strlen(fact) && strncmp(at, fact, strlen(fact)) == 0)
            return true;
    }
    return false;
}

static void check_hostile(const hostile *h)
{
    cordon_refusal refusal = {0};
    char message[256];
    char code[64];
    bench_verdict verdict = bench_try(&the_bench, h->role, &h->change, &refusal, message);
    (void)snprintf(code, sizeof code, "CORDON_REFUSED_%s", h->code ? h->code : "");
    bool good = h->code ? verdict == BENCH_REFUSED && refusal.code &&
                              test_same(cordon_refusal_name(refusal.code), code) &&
                              is_fact_of(h, refusal.fact)
                        : verdict == BENCH_DECLINED;
    TEST_RECORDF(good, "%s %s %s: verdict %d, %s %s; want %s %s; %s", cordon_role_name(h->role),
                 h->change.path, h->change.insert ? h->change.insert : h->change.value,
                 (int)verdict, cordon_refusal_name(refusal.code), refusal.fact,
                 h->code ? code : "declined", h->fact ? h->fact : "", message);
}

static void EA5_every_changed_field_is_refused_by_its_fact(void)
{
    const hostile *rows = real_is_docker() ? docker_hostiles : podman_hostiles;
    size_t count = real_is_docker() ? sizeof docker_hostiles / sizeof docker_hostiles[0]
                                    : sizeof podman_hostiles / sizeof podman_hostiles[0];
    for (size_t i = 0; i < count; i++) {
        if ((rows[i].engines & silent_engine()) != 0 && stage_asked_for(rows[i].role))
            check_hostile(&rows[i]);
    }
}

/* Not judged by its outcome: whatever the tests above left, goes. */
static void the_bench_is_cleared(void)
{
    bench_close(&the_bench);
    EXPECT_NOTHING_LEFT(&(outcome){.receipt = NULL});
}

/* --- Whole runs ------------------------------------------------------------------------------- */

typedef struct lie {
    const hostile *h;
    bool told;
} lie;

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    lie *l = p->hooks.context;
    if (r->call == PLAY_CREATE && r->role == l->h->role)
        l->told = play_edit(x, l->h->change.path, l->h->change.value, l->h->change.insert);
    return LIAR_PASS;
}

static const hostile whole_runs[] = {
    {DOCKER, STEP, SET(HOST("ReadonlyRootfs"), "false"), "MISMATCH", "read_only_root"},
    {DOCKER, PROXY, SET(HOST("CapDrop"), "[]"), "MISMATCH", "capabilities"},
    {DOCKER, VENDOR, SET("$.Internal", "false"), "MISMATCH", "internal"},
    {LIBPOD, STEP, SET("$.read_only_filesystem", "false"), "MISMATCH", "read_only_root"},
    {LIBPOD, STEP, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {LIBPOD, PROXY, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {LIBPOD, PROXY, {"$.sysctl", NULL, NULL}, "MISMATCH", "runtime.sysctls"},
    {LIBPOD, VENDOR, SET("$.internal", "false"), "MISMATCH", "internal"},
    {DOCKER, KEEPER, SET(HOST("NetworkMode"), "\"bridge\""), "MISMATCH", "network_mode"},
    {LIBPOD, KEEPER, UNCONFINED, "MISMATCH", "runtime.seccomp_default"},
    {DOCKER, VOLUME, SET("$.DriverOpts.o", "\"nr_blocks=9999999\""), "MISMATCH", "options"},
    {LIBPOD, VOLUME, SET("$.Options.o", "\"nr_blocks=9999999\""), "MISMATCH", "options"},
};

static void check_whole(const hostile *h)
{
    play p;
    lie l = {.h = h};
    cordon_auto(outcome) o = {0};
    char code[64];
    char fact[160];
    const play_hooks hooks = {.context = &l, .ask = on_ask};
    (void)snprintf(code, sizeof code, "CORDON_REFUSED_%s", h->code);
    (void)snprintf(fact, sizeof fact, "%s.%s", cordon_role_name(h->role), h->fact);
    call what = {.argv = WORDS("true")};
    play_steps steps;
    bool shared = h->role == VOLUME || h->role == KEEPER;
    if ((shared && !play_two_steps(&steps, "true", "60s", &what)) ||
        !play_begin(&p, what, &hooks) || !play_end(&p, &o))
        return;
    CHECK(l.told);
    EXPECT_KIND(&o, "refused", 126);
    CHECK_STR(receipt_text(&o, "result.refusal.code"), code);
    CHECK_STR(receipt_text(&o, "result.refusal.fact"), fact);
    EXPECT_NOTHING_LEFT(&o);
}

static void EA5_a_run_with_a_changed_create_is_refused(void)
{
    for (size_t i = 0; i < sizeof whole_runs / sizeof whole_runs[0]; i++) {
        if ((whole_runs[i].engines & silent_engine()) != 0 && stage_asked_for(whole_runs[i].role))
            check_whole(&whole_runs[i]);
    }
}

REAL_MAIN("attack_creates", TEST(an_honest_create_is_accepted),
          TEST(EA5_every_dropped_field_is_confirmed_or_refused),
          TEST(EA5_every_changed_field_is_refused_by_its_fact), TEST(the_bench_is_cleared),
          TEST(EA5_a_run_with_a_changed_create_is_refused))
