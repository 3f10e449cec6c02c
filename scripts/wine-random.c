// Random numbers as Rust's standard library asks for them on Windows. Wine has this library only from version 9 on; for older ones
// scripts/other-systems.sh makes it. It has nothing to do with the program for real Windows.
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    while (length > 0) {
        ULONG piece = length > 1 << 20 ? 1 << 20 : (ULONG)length;
        if (!RtlGenRandom(data, piece)) return FALSE;
        data += piece;
        length -= piece;
    }
    return TRUE;
}
