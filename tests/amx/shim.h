// The build-time variant: `-include tests/amx/shim.h` turns the tile intrinsics of a source into
// calls of the emulator. No signals, no AMX instructions, a hundred times faster, and
// AddressSanitizer sees every byte a tile load reads.
#pragma once
#include <immintrin.h>

#include "tests/amx/emulator.h"

#undef _tile_loadconfig
#undef _tile_storeconfig
#undef _tile_release
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#undef _tile_dpbf16ps

#define TENON_AMX(call) ::tenon::amx::must(::tenon::amx::call)
#define TENON_AMX_DOT(op, d, a, b) TENON_AMX(dot(::tenon::amx::Dot::op, d, a, b))

#define _tile_loadconfig(p) TENON_AMX(load_config(p))
#define _tile_storeconfig(p) TENON_AMX(store_config(p))
#define _tile_release() TENON_AMX(release())
#define _tile_zero(t) TENON_AMX(zero(t))
#define _tile_loadd(t, p, stride) TENON_AMX(load(t, p, stride))
#define _tile_stream_loadd(t, p, stride) TENON_AMX(load(t, p, stride))
#define _tile_stored(t, p, stride) TENON_AMX(store(t, p, stride))
#define _tile_dpbssd(d, a, b) TENON_AMX_DOT(kSignedSigned, d, a, b)
#define _tile_dpbsud(d, a, b) TENON_AMX_DOT(kSignedUnsigned, d, a, b)
#define _tile_dpbusd(d, a, b) TENON_AMX_DOT(kUnsignedSigned, d, a, b)
#define _tile_dpbuud(d, a, b) TENON_AMX_DOT(kUnsignedUnsigned, d, a, b)
#define _tile_dpbf16ps(d, a, b) TENON_AMX_DOT(kBf16, d, a, b)
