/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core and the gate say to each other over a step container's standard streams. Every
 * message is one frame of kit/frame.h. libc-only: the gate includes it.
 *
 *   gate -> core, stdout   REPORT   first bytes of the container; key = 32 zero bytes. Carries a
 *                                   fresh nonce and what the gate sees of its surroundings.
 *   core -> gate, stdin    RELEASE  keyed with that nonce: one whole frame or the gate ends.
 *   gate -> core, stdout   STARTED  keyed with the exit key of the release: the command's file
 *                                   was found (or not); sent before it is executed.
 *   gate -> core, stdout   EXIT     keyed with the exit key; the last bytes of stdout, written
 *                                   after every other process of the container has been reaped.
 *   core -> gate, stdin    any byte, or the end: EXIT has come through. Only then does the gate
 *                                   end, because an engine that sees a container end gives its
 *                                   streams little time (Docker two seconds) and drops what a slow
 *                                   reader has not taken by then.
 *
 * SECURITY: STARTED and EXIT travel inside a stream that the command can write to. Their key is
 * 32 random bytes that core makes for one release, that never leave the gate's memory (it is not
 * dumpable, and it wipes its copy before it executes the command), so a command cannot forge
 * them. Bytes that look like such a frame and do not verify are the command's output.
 */
#ifndef CORDON_GATE_PROTOCOL_H
#define CORDON_GATE_PROTOCOL_H

#define CORDON_GATE_VERSION 1

/* Frame magics, 8 bytes each. */
#define CORDON_GATE_MAGIC_REPORT  "CRDNrep1"
#define CORDON_GATE_MAGIC_RELEASE "CRDNrel1"
#define CORDON_GATE_MAGIC_STARTED "CRDNsta1"
#define CORDON_GATE_MAGIC_EXIT    "CRDNexi1"

#define CORDON_GATE_NONCE_BYTES 32

/* Where the worktree is inside a step, unless the configuration says otherwise. */
#define CORDON_GATE_WORKTREE "/worktree"

/* Ceilings of whole frames, header and code included. */
#define CORDON_GATE_REPORT_MAX  (256U << 10)
#define CORDON_GATE_RELEASE_MAX (4U << 20)
#define CORDON_GATE_REPLY_MAX   256 /* STARTED and EXIT: one write(2), below PIPE_BUF */

/*
 * REPORT fields. FACT is "key=value", repeated; keys and the spelling of values:
 *   uid gid                 "real effective saved filesystem", decimal
 *   group                   one supplementary group; repeated
 *   cap.inheritable cap.permitted cap.effective cap.bounding cap.ambient   16 hex digits
 *   no_new_privs seccomp.mode seccomp.filters securebits dumpable           decimal, as found
 *                           at the start, before the gate sets its own
 *   pid                     the gate's own process id
 *   mount                   "target\tfstype\toptions\tsuper options\tsource\troot\toptional", from
 *                           /proc/self/mountinfo with its octal escapes kept; the last is
 *                           propagation ("master:5"), empty when private; repeated
 *   folder                  "target major:minor inode": what lies at a mount's target, with its
 *                           octal escapes, unless that is below /proc, /sys or /dev; repeated
 *   interface               "name up|down mtu N flags 0xHEX"; repeated
 *   address                 "name 10.213.0.3/29", v4 and v6; repeated
 *   route                   "destination/prefix via gateway|none dev name", and more behind it for
 *                           a route of another type or table; repeated, v4 and v6
 *   resolv hosts            one line of /etc/resolv.conf, /etc/hosts; repeated
 *   fd                      "number target", the readlink(2) of /proc/self/fd/N; repeated
 *   limit                   "nofile soft hard" (decimal or "unlimited"), for every RLIMIT_
 *   ns                      "pid:[4026531836]" and so on; repeated
 *   cgroup                  one line of /proc/self/cgroup; repeated
 *   cgroup.memory.max cgroup.pids.max cgroup.cpu.max     where visible
 *   env argv                one item of its own environment and command line; repeated
 *   hostname working_dir
 *   uid_map gid_map         one line each; repeated
 *   sysctl                  "net.ipv4.ip_forward 0" for those that core plans, where the kernel
 *                           has them; "unreadable" for a value that may not be read; repeated
 *   masked                  "path open|readonly|empty|denied|absent": a kernel interface that
 *                           must not be usable; denied is neither readable nor writable; repeated
 *   device                  "name type major:minor" of each node in /dev; repeated
 *   socket                  path of an engine socket that exists at a well-known place; repeated
 *   landlock.abi            decimal, 0 when the kernel has none
 *   denied                  "call refused|allowed": what became of a system call that every default
 *                           seccomp profile refuses, made before the gate has a filter; repeated
 *   truncated               key of a fact that had more values than the gate reports
 */
enum {
    CORDON_GATE_REPORT_VERSION = 1, /* u64 */
    CORDON_GATE_REPORT_NONCE = 2,   /* CORDON_GATE_NONCE_BYTES random bytes */
    CORDON_GATE_REPORT_FACT = 3,
};

/* RELEASE fields. Unknown, repeated (unless said) or missing ones end the gate. */
enum {
    CORDON_GATE_RELEASE_VERSION = 1,  /* u64 */
    CORDON_GATE_RELEASE_EXIT_KEY = 2, /* CORDON_GATE_NONCE_BYTES random bytes */
    CORDON_GATE_RELEASE_ARGV = 3,     /* text, repeated, at least one; argv[0] is looked up in
                                         PATH of the frame's environment when it has no slash */
    CORDON_GATE_RELEASE_ENV = 4,      /* "NAME=value", repeated; the command's whole environment */
    CORDON_GATE_RELEASE_CWD = 5,      /* absolute path */
    CORDON_GATE_RELEASE_STDIN = 6,    /* optional bytes: the command's whole standard input */
    CORDON_GATE_RELEASE_RULE = 7,     /* optional, repeated: one Landlock rule, see below */
    CORDON_GATE_RELEASE_LANDLOCK = 8, /* u64: least ABI that must be enforced; 0 = no Landlock */
    CORDON_GATE_RELEASE_SECRET = 9,   /* "NAME=value", repeated: NAME holds the number of a
                                         descriptor from which value can be read once, then the
                                         end; numbers from CORDON_GATE_SECRET_FD on, in order */
    CORDON_GATE_RELEASE_FILE = 10,    /* optional, repeated: absolute path, NUL, content: a file
                                         that the gate makes, mode 0600, before the
                                         command; folders that are missing, too, mode 0700 */
};

/* The first descriptor of a secret: right behind the standard streams. */
#define CORDON_GATE_SECRET_FD 3

/*
 * Landlock rules, as text: "execute PATH", "read PATH" (files and folders, no execute),
 * "write PATH" (all but execute), "connect PORT"; "connect 0" leaves TCP alone, for a step that
 * has loopback and nothing else. What no rule allows is denied, for all access
 * rights of the enforced ABI, with scopes for signals and abstract sockets where it has them. A
 * path that does not exist grants nothing. With or without Landlock the command gets a seccomp
 * filter of the gate's own (gate/fence.h); with it, files in memory (memfd) are not executable
 * either, unless "execute /" is allowed.
 */

/* STARTED fields. */
enum {
    CORDON_GATE_STARTED_ERRNUM = 1, /* u64: 0, or errno of looking up / opening argv[0] */
};

/* EXIT fields: exactly one of code, signal and errnum. */
enum {
    CORDON_GATE_EXIT_CODE = 1,    /* u64 0..255 */
    CORDON_GATE_EXIT_SIGNAL = 2,  /* u64 signal number */
    CORDON_GATE_EXIT_OOM = 3,     /* optional u64: out-of-memory kills that the cgroup counts */
    CORDON_GATE_EXIT_ERRNUM = 4,  /* u64: errno of execve(2), which failed after STARTED */
    CORDON_GATE_EXIT_OUTSIDE = 5, /* optional u64: first signal from outside of the container, which
                                     the gate has handed on; the command cannot make one of these */
};

/*
 * The gate's own exit statuses, when it never came to the command. The first two come with a line
 * on stderr and without an EXIT frame; the last two with an errno in STARTED or in EXIT, and
 * without a line.
 */
enum {
    CORDON_GATE_STATUS_NOT_RELEASED = 113, /* end of file, short, late or foreign frame */
    CORDON_GATE_STATUS_FAILED = 114,       /* it could not read its surroundings or set up */
    CORDON_GATE_STATUS_NOT_FOUND = 127,    /* as shells do: no such command */
    CORDON_GATE_STATUS_NOT_EXECUTABLE = 126,
};

#endif
