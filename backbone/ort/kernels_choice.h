// WINNOW_X86 is defined where code for newer x86 processors can be compiled in addition, to be chosen at run time.
// Windows is excluded: there gcc does not align the stack for such vectors.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(_WIN32)
#define WINNOW_X86
#endif
