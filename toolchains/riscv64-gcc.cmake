# Debian 13's cross compiler, g++-14-riscv64-linux-gnu.
set(TENON_CPU riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc-14)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++-14)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
