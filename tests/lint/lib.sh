# SPDX-License-Identifier: Apache-2.0
#
# What the checks share; sourced. A check prints "path:line: what is wrong" for each finding and
# ends with 1 if there was any, 77 if a tool that it needs is missing.
set -euo pipefail
export LC_ALL=C
lint_root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
cd "$lint_root"
lint_found=0

# finding TEXT...: counts one.
finding()
{
    printf '%s\n' "$*"
    lint_found=$((lint_found + 1))
}

# findings: the same for every line of stdin.
findings()
{
    local line
    while IFS= read -r line; do
        finding "$line"
    done
}

lint_end()
{
    if [[ $lint_found -gt 0 ]]; then
        printf '%s findings\n' "$lint_found"
        exit 1
    fi
    exit 0
}

lint_skip()
{
    printf 'skipped: %s\n' "$*"
    exit 77
}

# C files below the folders, without the samples and corpora of tests.
c_files()
{
    find "$@" \( -path '*/samples' -o -path '*/corpus' \) -prune -o \
        -type f \( -name '*.c' -o -name '*.h' \) -print | sort
}

product_files()
{
    c_files core engines proxy
}

# code_of FILE: the file without comments and without what is in quotes, line for line.
code_of()
{
    awk '
    {
        line = $0; out = ""; n = length(line)
        for (i = 1; i <= n; i++) {
            c = substr(line, i, 1); two = substr(line, i, 2)
            if (comment) {
                if (two == "*/") { comment = 0; i++ }
            } else if (quote != "") {
                if (c == "\\") i++
                else if (c == quote) { quote = ""; out = out c }
            } else if (two == "/*") { comment = 1; i++ }
            else if (two == "//") break
            else {
                if (c == "\"" || c == "\047") quote = c
                out = out c
            }
        }
        print out
    }' "$1"
}

# allowed LIST KEY: whether the exceptions in LIST (lines "KEY reason") have this key.
allowed()
{
    awk -v key="$2" '!/^#/ && $1 == key && NF > 1 { found = 1 } END { exit !found }' "$1"
}
