# SPDX-License-Identifier: Apache-2.0
#
# Packages: `cpack` in a build of the preset "package" makes three Debian packages - cordon,
# libcordon0, libcordon-dev - and `cpack --config CPackSourceConfig.cmake`
# a source archive. With SOURCE_DATE_EPOCH set they are the same bytes every time.
set(CPACK_PACKAGE_VENDOR "The Cordon authors")
set(CPACK_PACKAGE_CONTACT "The Cordon authors <cordon@users.noreply.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run coding agents in containers that reach their vendor alone")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_compress.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL cordon libcordon libcordon-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_CORDON_PACKAGE_NAME cordon)
set(CPACK_DEBIAN_CORDON_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_CORDON_PACKAGE_DEPENDS python3:any) # a recipe of images
set(CPACK_DEBIAN_CORDON_PACKAGE_RECOMMENDS "podman | docker.io")
set(CPACK_DEBIAN_CORDON_DESCRIPTION "Cordon runs one command, a coding agent's or a test runner's, in a container
of Docker or Podman that can reach its pinned vendor and nothing else. No line
of it runs before the plan, the engine's state and the kernel's own state in
the container agree; and nothing of it is left afterwards.")

set(CPACK_DEBIAN_LIBCORDON_PACKAGE_NAME libcordon${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBCORDON_PACKAGE_SECTION libs)
file(WRITE ${CMAKE_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
file(WRITE ${CMAKE_BINARY_DIR}/deb/shlibs
     "libcordon ${PROJECT_VERSION_MAJOR} libcordon${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBCORDON_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/deb/triggers ${CMAKE_BINARY_DIR}/deb/shlibs)
set(CPACK_DEBIAN_LIBCORDON_DESCRIPTION "Cordon runs one command, a coding agent's or a test runner's, in a container
of Docker or Podman that can reach its pinned vendor and nothing else.
.
 This package has the shared library.")

set(CPACK_DEBIAN_LIBCORDON-DEV_PACKAGE_NAME libcordon-dev)
set(CPACK_DEBIAN_LIBCORDON-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBCORDON-DEV_PACKAGE_DEPENDS "libcordon${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libcurl4-openssl-dev | libcurl4-gnutls-dev, libjson-c-dev, libconfig-dev")
set(CPACK_DEBIAN_LIBCORDON-DEV_DESCRIPTION "Cordon runs one command, a coding agent's or a test runner's, in a container
of Docker or Podman that can reach its pinned vendor and nothing else.
.
 This package has what programs need that are built with its library.")

# What Debian wants to find of each package.
foreach(component IN ITEMS cordon libcordon libcordon-dev)
    set(package ${component})
    if(component STREQUAL "libcordon")
        set(package libcordon${PROJECT_VERSION_MAJOR})
    endif()
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${CMAKE_CURRENT_LIST_DIR}/changelog
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME cordon-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git(/|$)" "/build/" "~$")
include(CPack)
