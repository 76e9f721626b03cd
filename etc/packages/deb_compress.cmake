# SPDX-License-Identifier: Apache-2.0
#
# Run by cpack on what it is about to pack: manual pages and changelogs are compressed, as Debian has
# them, without a name or a time of their own.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man[1-8]/*.[1-8]
     ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
