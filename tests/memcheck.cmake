# SPDX-License-Identifier: Apache-2.0
#
# memcheck.NAME: the test unit.NAME or contract.NAME below valgrind, for each but the ones named
# here. An invalid access, a value used before it is set and memory that nobody can free fail it.
find_program(CORDON_VALGRIND valgrind)
if(NOT CORDON_VALGRIND)
    return()
endif()

set(memcheck_left_out
    # Every leaf of every recorded answer: minutes at a fiftieth of the speed. The decoders and
    # the tables are run by docker_decode, podman_decode, runtime_rules and validate.
    mutate_docker mutate_podman runtime_decode
    # valgrind lets nobody lower the hard limits of descriptors, as these do in a child, and knows
    # no Landlock. The rest of the gate and proxy_live are below it.
    gate_release gate_live proxy_tunnel
    # valgrind makes calls of its own, for which the filter under test ends the process; and it cannot
    # go on after an execve(2) that fails, as it must here.
    proxy_lockdown image_recipe
    # Streams cut at every byte: minutes, too. proxy_live shows the same code.
    gate_link proxy_classes proxy_idle
    # Hundreds of whole runs, many of which wait for their end: minutes, too. run_fake and run_gate
    # go the same ways, and the address sanitizer sees all of these.
    run_cases run_ends run_faults run_leftovers
    # Every allocation in turn, likewise.
    torture_parts torture_proxy torture_run)

get_property(tests DIRECTORY unit PROPERTY TESTS)
foreach(folder contract runtime torture)
    get_property(more DIRECTORY ${folder} PROPERTY TESTS)
    list(APPEND tests ${more})
endforeach()
list(FILTER tests INCLUDE REGEX "^(unit|contract)\\.")

foreach(test IN LISTS tests)
    string(REGEX REPLACE "^[a-z]+\\." "" name ${test})
    set(program test_${name})
    if(test MATCHES "^contract" AND NOT TARGET ${program})
        set(program test_script_${name})
    endif()
    if(name IN_LIST memcheck_left_out)
        continue()
    endif()
    add_test(NAME memcheck.${name}
             COMMAND ${CORDON_VALGRIND} --quiet --error-exitcode=99 --leak-check=full
                     --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect
                     --suppressions=${CMAKE_CURRENT_LIST_DIR}/memcheck.supp
                     $<TARGET_FILE:${program}>)
    set_tests_properties(memcheck.${name} PROPERTIES LABELS memcheck TIMEOUT 900)
endforeach()
