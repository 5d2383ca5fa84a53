// The kernels in the instructions that every processor of the kind has.

#define LANES 4
#define SET winnow_plain
#include "kernels_set.h"
