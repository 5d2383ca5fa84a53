// WINNOW_X86 is defined where code for newer processors can be compiled beside the rest and chosen when it runs. Not for
// Windows, whose stack gcc does not align for such vectors.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(_WIN32)
#define WINNOW_X86
#endif
