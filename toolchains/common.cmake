# Debian's tree of another architecture (ci/sysroot.sh), and QEMU for the tests. The toolchain files
# beside this one set TENON_CPU and the compiler. TENON_SYSROOT is an absolute path, by -D or from the
# environment.
if(NOT TENON_SYSROOT)
  set(TENON_SYSROOT "$ENV{TENON_SYSROOT}")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENON_SYSROOT TENON_CLANG)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TENON_CPU})
set(CMAKE_SYSROOT ${TENON_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${TENON_CPU}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${TENON_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TENON_CPU};-L;${TENON_SYSROOT})
