/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy without the gate, built like the guard: its size is the proxy's share of the guard, and
 * libc's share with it.
 */
#include "proxy.h"

int main(int argc, char **argv)
{
    return cordon_proxy_main(argc - 1, argv + 1);
}
